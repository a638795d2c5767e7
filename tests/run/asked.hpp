#pragma once
// Problems and answers as a program passes them.

#include <overlaptune/run.h>
#include <vector>

namespace overlaptune {

/// A problem with m = 4096, n = 1024, k = 512 and 4 ranks.
inline ovt_problem asked_problem(ovt_op op) {
  return {.size = sizeof(ovt_problem),
          .m = 4096,
          .n = 1024,
          .k = 512,
          .op = op,
          .dtype = OVT_BF16,
          .ranks = 4,
          .reserved = 0};
}

inline ovt_answer library_answer(ovt_strategy strategy, ovt_transport transport) {
  ovt_answer answer{};
  answer.size = sizeof answer;
  answer.strategy = strategy;
  answer.transport = transport;
  answer.comm_ctas = strategy == OVT_CHUNKED ? 16 : 0;
  answer.chunks = strategy == OVT_CHUNKED ? 4 : 1;
  return answer;
}

/// 256 tiles of 128 x 128, 8 a row panel, in groups of whole swizzle groups.
inline ovt_answer signaled_answer(ovt_transport transport) {
  ovt_answer answer = library_answer(OVT_SIGNALED, transport);
  answer.block_m = 128;
  answer.block_n = 128;
  answer.block_k = 64;
  answer.stages = 4;
  answer.cluster = 1;
  answer.raster = 2;
  answer.comm_ctas = 8;
  answer.wave_group_count = 2;
  answer.wave_groups[0] = 64;
  answer.wave_groups[1] = 192;
  return answer;
}

}  // namespace overlaptune
