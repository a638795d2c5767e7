#pragma once
// A problem on which configs are validated: its inputs, and the right result.

#include <memory>
#include <utility>
#include <vector>

#include "kernels/support.hpp"
#include "machine/cuda/worker/workbench.hpp"
#include "run/plan.hpp"

namespace overlaptune::cuda {

/// Several sets of operands with standard normal inputs of their own, in `World::memory`: anything
/// else that takes that memory invalidates them. The reference is accumulated in double precision
/// from inputs that each rank makes itself, so that it depends on no exchange: every row of small
/// problems, one row in 64 of large ones.
class TestProblem {
 public:
  /// Collective. Error: `bad_input` where the memory does not suffice.
  [[nodiscard]] static Expected<std::unique_ptr<TestProblem>> prepare(Workbench& bench,
                                                                      const Problem& problem,
                                                                      std::uint64_t seed);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::span<const run::Operands> operands() const { return operands_; }

  /// Whether this is the first time that it is asked.
  [[nodiscard]] bool first_validation() { return !std::exchange(validated_, true); }

  /// Fills what a run writes with values that are no numbers.
  void poison(int set);
  /// What the result that is there is off by; the largest of all ranks.
  [[nodiscard]] kernels::Deviation deviation(int set);
  /// How many sets have a reference.
  [[nodiscard]] int checked_sets() const { return checked_; }

 private:
  TestProblem(Workbench& bench, const Problem& problem, std::uint64_t seed);
  [[nodiscard]] Expected<void> allocate();
  void fill_inputs();
  void make_references();
  [[nodiscard]] std::uint64_t seed_of(int set, int rank, bool b) const;
  void accumulate(int set, double* reference);

  Workbench& bench_;
  Problem problem_;
  std::uint64_t seed_;
  std::vector<run::Operands> operands_{};
  std::vector<std::int64_t> rows_{};  ///< of the result that are checked
  int checked_ = 0;
  bool validated_ = false;
  run::DeviceMemory rows_on_device_{};
  run::DeviceMemory deviation_;
  std::vector<run::DeviceMemory> references_{};
};

}  // namespace overlaptune::cuda
