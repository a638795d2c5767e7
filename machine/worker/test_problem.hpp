#pragma once
// A problem for the validation of configs: its inputs and the correct result.

#include <memory>
#include <utility>
#include <vector>

#include "kernels/support.hpp"
#include "machine/worker/workbench.hpp"
#include "run/plan.hpp"

namespace overlaptune::cuda {

/// Several sets of operands with different standard normal inputs, in `World::memory`; any other
/// use of that memory invalidates them. The reference is accumulated in double precision from
/// inputs that each rank makes itself, so that it depends on no exchange. It has every row of small
/// problems, and one row in 64 of large ones.
class TestProblem {
 public:
  /// Collective. Error: `bad_input` if the memory does not suffice.
  [[nodiscard]] static Expected<std::unique_ptr<TestProblem>> prepare(Workbench& bench,
                                                                      const Problem& problem,
                                                                      std::uint64_t seed);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::span<const run::Operands> operands() const { return operands_; }
  /// The operands that runs are given: those above, or, after `lay_apart(true)`, as a caller has
  /// them. Then A (exchanged first) or C lies in memory that no peer reaches.
  [[nodiscard]] std::span<const run::Operands> given() const {
    return apart_ ? std::span<const run::Operands>(given_) : operands();
  }
  /// Bytes of A (exchanged first) or C.
  [[nodiscard]] std::size_t exchanged_bytes() const;
  /// Collective. Error: `bad_input` where a rank lacks the memory for it.
  [[nodiscard]] Expected<void> lay_apart(bool apart);
  /// Number of operand sets; each has a reference.
  [[nodiscard]] int sets() const { return static_cast<int>(operands_.size()); }

  /// Returns true for the first call only.
  [[nodiscard]] bool first_validation() { return !std::exchange(validated_, true); }

  /// Fills all memory that a run writes with NaN.
  void poison(int set);
  /// Enqueues a comparison of the result with the reference. `in_world`: it is in `operands`,
  /// whatever runs are given.
  void compare(int set, bool in_world);
  /// Waits for the comparisons since the last call and returns their deviation; the largest of all
  /// ranks.
  [[nodiscard]] kernels::Deviation deviation();

 private:
  TestProblem(Workbench& bench, const Problem& problem, std::uint64_t seed);
  [[nodiscard]] Expected<void> allocate();
  void fill_inputs();
  void make_references();
  [[nodiscard]] std::uint64_t seed_of(int set, int rank, bool b) const;
  [[nodiscard]] std::uint64_t scale_seed(int set, int rank, bool b) const;
  void accumulate(int set, double* reference);

  Workbench& bench_;
  Problem problem_;
  std::uint64_t seed_;
  std::vector<run::Operands> operands_{};
  bool apart_ = false;
  std::vector<run::Operands> given_{};
  std::vector<run::DeviceMemory> apart_memory_{};
  std::vector<std::int64_t> rows_{};  ///< rows of the result that are checked
  bool validated_ = false;
  run::DeviceMemory rows_on_device_{};
  run::DeviceMemory deviation_;
  std::vector<run::DeviceMemory> references_{};
};

}  // namespace overlaptune::cuda
