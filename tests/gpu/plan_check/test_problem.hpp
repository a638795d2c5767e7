#pragma once
// Inputs of an op, and the right result.

#include "kernels/support.hpp"
#include "tests/gpu/plan_check/bench.hpp"

namespace overlaptune::plan_check {

/// The caller's own memory, from plain cudaMalloc. It is the same for all ops, because NCCL
/// remembers by its address what a graph was captured with.
struct OwnMemory {
  run::DeviceMemory a, b, c;
  run::DeviceMemory other_a, other_b;  ///< other inputs: of another rank, or those of no result
  run::DeviceMemory reference;         ///< in double precision
  run::DeviceMemory rows;              ///< 0, 1, 2, …
  run::DeviceMemory deviation;

  /// Memory that is enough for each of the problems.
  explicit OwnMemory(std::span<const Problem> problems);
};

/// This rank's inputs, and the reference. This rank makes the inputs of all ranks itself and sums
/// up the reference from them in double precision, so it depends on no exchange.
class TestProblem {
 public:
  TestProblem(Bench& bench, const OwnMemory& memory, const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const OwnMemory& memory() const { return memory_; }

  /// Copies this rank's A.
  void copy_a(void* to) const;
  /// Fills C with values that are no numbers; `c` is the caller's own or the plan's.
  void poison(void* c) const;
  /// The error of the result in `c`; the worst of all ranks.
  [[nodiscard]] kernels::Deviation deviation(const void* c);

 private:
  void add_rank(int rank);

  Bench& bench_;
  const OwnMemory& memory_;
  Problem problem_;
  ovt_sizes sizes_;
  std::int64_t rows_;  ///< rows of the result
};

}  // namespace overlaptune::plan_check
