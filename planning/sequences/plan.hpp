#pragma once
// The plan of a batch: micro-batches that run one after the other, each with groups side by side.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace overlaptune {

/// The GPUs that plans are made for.
struct Gpus {
  int count = 0;            ///< a power of two
  int per_node = 0;         ///< a divisor of `count`
  double memory_bytes = 0;  ///< that one GPU may use
};

/// The limits of the program that runs a plan.
struct Limits {
  int least_degree = 1;              ///< a power of two
  std::optional<int> most_degree{};  ///< a power of two, at least `least_degree`
  /// Sequences that a group of a micro-batch may have: the entries of a packed batch.
  std::optional<int> sequences_of_group{};
  int micro_batches = 1;  ///< their number is a multiple of this, as pipelines need
  /// Sequences are padded to multiples of this; none: not at all.
  std::optional<std::int64_t> padding{};
  bool padding_by_degree = false;  ///< a group of degree d pads to multiples of d times `padding`
};

/// Tokens that a sequence has in a group.
[[nodiscard]] inline std::int64_t padded(std::int64_t length, int degree, const Limits& limits) {
  if (!limits.padding) return length;
  const std::int64_t multiple = *limits.padding * (limits.padding_by_degree ? degree : 1);
  return (length + multiple - 1) / multiple * multiple;
}

/// Neighbouring GPUs `first_gpu`..`first_gpu + degree - 1` that share each of their sequences.
struct Group {
  int degree = 1;                         ///< a power of two
  int first_gpu = 0;                      ///< a multiple of `degree`
  std::vector<std::int64_t> sequences{};  ///< lengths, longest first
  std::vector<std::size_t> members{};     ///< their places in the batch
  std::int64_t tokens = 0;                ///< sum of the padded lengths
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
