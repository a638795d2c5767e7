#pragma once
// The algorithms, one function each. Each returns the time without the launch, by the best
// protocol; nothing where it does not exist for the operation or the levels.

#include <optional>
#include <span>

#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {

/// A protocol of every level: the one of the innermost level's name, or a level's last one.
struct Sender {
  std::span<const Slice> slices{};
  const Protocol* inner = nullptr;

  [[nodiscard]] const Protocol& of(const Slice& slice) const;
  /// Time of a step over the links of a level.
  [[nodiscard]] double step(const Slice& slice) const;
  /// The rate of one GPU into a level, of data.
  [[nodiscard]] double rate(const Slice& slice, double bytes) const;
  /// The rate in a ring of the operation, of which one of two GPUs has its own.
  [[nodiscard]] double ring_rate(const Slice& slice, Operation operation, double bytes) const;
};

/// Bytes sent over levels at once: the level that takes longest bounds the time.
class Transfer {
 public:
  void add(const Slice& slice, double us);
  [[nodiscard]] AlgorithmTime timed(Algorithm algorithm, const Sender& sender,
                                    double latency_us) const;

 private:
  double us_ = 0;
  const Level* level_ = nullptr;
};

/// Times that a buffer passes every GPU: twice for all-reduce (reduce-scatter, all-gather), else
/// once.
[[nodiscard]] constexpr int passes(Operation operation) {
  return operation == Operation::all_reduce ? 2 : 1;
}

[[nodiscard]] constexpr bool is_reduction_or_gather(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter ||
         operation == Operation::all_gather;
}

using Found = std::optional<AlgorithmTime>;
[[nodiscard]] Found ring(const Sender& sender, const Question& question);
[[nodiscard]] Found hierarchical(const Sender& sender, const Question& question);
[[nodiscard]] Found tree(const Sender& sender, const Question& question);
[[nodiscard]] Found by_switch(const Sender& sender, const Question& question);
[[nodiscard]] Found multi_dimensional(const Sender& sender, const Question& question);
[[nodiscard]] Found direct(const Sender& sender, const Question& question);

/// Time of one pass of a reduce-scatter or all-gather of `bytes` within one level, which `steps`
/// and `us` come of.
struct Pass {
  int steps = 0;
  double us = 0;  ///< of the bytes
};
[[nodiscard]] Pass pass_within(const Sender& sender, const Slice& slice, double bytes);
/// A pass over all dimensions and directions of a torus at once.
[[nodiscard]] Pass torus_pass(const Sender& sender, const Slice& slice, double bytes);

}  // namespace overlaptune::cluster
