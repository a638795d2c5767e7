#pragma once
// Inputs of an op, and the right result.

#include <array>

#include "kernels/support.hpp"
#include "tests/gpu/plan_check/bench.hpp"

namespace overlaptune::plan_check {

/// Inputs, a result and its reference in double precision.
struct OperandSet {
  run::DeviceMemory a, b, c;
  run::DeviceMemory a_scales, b_scales;
  run::DeviceMemory reference;
};

/// The caller's own memory, from plain cudaMalloc. It is the same for all ops, because NCCL
/// remembers by its address what a graph was captured with.
struct OwnMemory {
  std::array<OperandSet, 2> sets{};
  run::DeviceMemory scratch_a, scratch_b;  ///< inputs of another rank
  run::DeviceMemory scratch_a_scales, scratch_b_scales;
  run::DeviceMemory rows;  ///< 0, 1, 2, …
  run::DeviceMemory deviation;

  /// Memory that is enough for each of the problems.
  explicit OwnMemory(std::span<const Problem> problems);
};

/// This rank's inputs of each operand set, and the references. This rank makes the inputs of all
/// ranks itself and sums up the references from them in double precision, so they depend on no
/// exchange.
class TestProblem {
 public:
  TestProblem(Bench& bench, const OwnMemory& memory, const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const OwnMemory& memory() const { return memory_; }

  /// The scales of an operand set; null where the dtype has none.
  [[nodiscard]] run::ScaleOperands scales(std::size_t set) const;
  /// Copies this rank's A of the first set.
  void copy_a(void* to) const;
  /// Fills C with values that are no numbers; `c` is the caller's own or the plan's.
  void poison(void* c) const;
  /// Enqueues a comparison of the result in `c`, which is that of this operand set. `into`: device
  /// memory, which takes the larger of its own error and this one's.
  void compare(std::size_t set, const void* c, kernels::Deviation* into) const;
  /// The error of the result in `c`, which is that of this operand set; the worst of all ranks.
  [[nodiscard]] kernels::Deviation deviation(std::size_t set, const void* c);

 private:
  [[nodiscard]] std::uint64_t scale_seed(std::size_t set, int rank, bool b) const;
  void fill(std::size_t set);
  void fill_scales(const run::DeviceMemory& a, const run::DeviceMemory& b, std::uint64_t seed_a,
                   std::uint64_t seed_b) const;
  void add_rank(std::size_t set, int rank);

  Bench& bench_;
  const OwnMemory& memory_;
  Problem problem_;
  ovt_sizes sizes_;
  std::int64_t rows_;  ///< rows of the result
};

}  // namespace overlaptune::plan_check
