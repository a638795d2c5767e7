/* Prints the place of each field of the structs of run.h, as layout.c does for overlaptune.h. */

#include <overlaptune/run.h>
#include <stdio.h>

#define FIELD(type, field) \
  printf(#type " " #field " %zu %zu\n", offsetof(type, field), sizeof(((type*)0)->field))
#define WHOLE(type) printf(#type " sizeof 0 %zu\n", sizeof(type))

int main(void) {
  WHOLE(ovt_world_options);
  FIELD(ovt_world_options, size);
  FIELD(ovt_world_options, allow_multicast);
  FIELD(ovt_world_options, exclusive);
  FIELD(ovt_world_options, free_sms);
  FIELD(ovt_world_options, time_limit_ms);
  FIELD(ovt_world_options, peers);
  FIELD(ovt_world_options, peer_bytes);
  FIELD(ovt_world_options, result_bytes);

  WHOLE(ovt_sizes);
  FIELD(ovt_sizes, size);
  FIELD(ovt_sizes, a_bytes);
  FIELD(ovt_sizes, b_bytes);
  FIELD(ovt_sizes, c_bytes);
  FIELD(ovt_sizes, shared_bytes);
  FIELD(ovt_sizes, temporary_bytes);

  WHOLE(ovt_buffers);
  FIELD(ovt_buffers, size);
  FIELD(ovt_buffers, a);
  FIELD(ovt_buffers, c);
  FIELD(ovt_buffers, takes_results);
  FIELD(ovt_buffers, unused);
  return 0;
}
