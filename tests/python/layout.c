/* Prints the place of each field of the structs: a line "struct field offset bytes". */

#include <overlaptune/overlaptune.h>
#include <stdio.h>

#define FIELD(type, field) \
  printf(#type " " #field " %zu %zu\n", offsetof(type, field), sizeof(((type*)0)->field))
#define WHOLE(type) printf(#type " sizeof 0 %zu\n", sizeof(type))

int main(void) {
  WHOLE(ovt_platform);
  FIELD(ovt_platform, size);
  FIELD(ovt_platform, machine);
  FIELD(ovt_platform, name);
  FIELD(ovt_platform, gpu_model);
  FIELD(ovt_platform, gpu_count);
  FIELD(ovt_platform, sms);
  FIELD(ovt_platform, compute_capability);
  FIELD(ovt_platform, multicast_allowed);
  FIELD(ovt_platform, memory_bytes);
  FIELD(ovt_platform, driver_version);
  FIELD(ovt_platform, cuda_version);
  FIELD(ovt_platform, nccl_version);
  FIELD(ovt_platform, topology);
  FIELD(ovt_platform, transport);
  FIELD(ovt_platform, details);

  WHOLE(ovt_problem);
  FIELD(ovt_problem, size);
  FIELD(ovt_problem, m);
  FIELD(ovt_problem, n);
  FIELD(ovt_problem, k);
  FIELD(ovt_problem, op);
  FIELD(ovt_problem, dtype);
  FIELD(ovt_problem, ranks);
  FIELD(ovt_problem, reserved);

  WHOLE(ovt_question);
  FIELD(ovt_question, size);
  FIELD(ovt_question, strategies);
  FIELD(ovt_question, launch);
  FIELD(ovt_question, exclusive);
  FIELD(ovt_question, free_sms);
  FIELD(ovt_question, reserved);

  WHOLE(ovt_answer);
  FIELD(ovt_answer, size);
  FIELD(ovt_answer, source);
  FIELD(ovt_answer, reserved);
  FIELD(ovt_answer, predicted_us);
  FIELD(ovt_answer, measured_us);
  FIELD(ovt_answer, baseline_us);
  FIELD(ovt_answer, config);
  FIELD(ovt_answer, strategy);
  FIELD(ovt_answer, transport);
  FIELD(ovt_answer, reason);
  return 0;
}
