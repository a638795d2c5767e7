#pragma once
// The plan of a batch: micro-batches that run one after the other, each with groups side by side.

#include <cstdint>
#include <vector>

namespace overlaptune {

/// The GPUs that plans are made for.
struct Gpus {
  int count = 0;            ///< a power of two
  int per_node = 0;         ///< a divisor of `count`
  double memory_bytes = 0;  ///< that one GPU may use
};

/// Neighbouring GPUs `first_gpu`..`first_gpu + degree - 1` that share each of their sequences.
struct Group {
  int degree = 1;                         ///< a power of two
  int first_gpu = 0;                      ///< a multiple of `degree`
  std::vector<std::int64_t> sequences{};  ///< lengths, longest first
  std::int64_t tokens = 0;                ///< sum of the lengths
  double time_us = 0;
  double memory_bytes = 0;  ///< on each GPU
};

struct MicroBatch {
  double time_us = 0;           ///< time of its slowest group
  std::vector<Group> groups{};  ///< widest first; groups without sequences are left out
};

struct BatchPlan {
  double time_us = 0;         ///< sum of the micro-batches
  double lower_bound_us = 0;  ///< no plan is faster
  double exchange_us = 0;     ///< all-to-alls of the slowest groups
  std::int64_t tokens = 0;
  double bucket_error = 0;  ///< tokens that buckets add, over all tokens
  std::vector<MicroBatch> micro_batches{};
};

}  // namespace overlaptune
