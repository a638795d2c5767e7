#pragma once
// A second run of the fastest candidates. It is longer and traced, and goes through the phases of
// core/config/phase.hpp.

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/activity.hpp"
#include "core/config/candidate.hpp"
#include "core/config/phase.hpp"
#include "machine/machine.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {

/// The candidate that a second run leaves.
struct Confirmed {
  /// With verdict, times and conditions of the steady phase. Unchanged where the run could not be
  /// made, or `sequential` has no time in it.
  Candidate candidate{};
  /// Times of the library's GEMM and of one collective, each alone, in the rounds of the steady
  /// phase. Empty: not timed there.
  std::vector<Microseconds> gemm_alone{};
  std::vector<Microseconds> collective_alone{};
  std::optional<double> overlap_fraction{};  ///< absent where the machine cannot trace
};

/// Second runs of one tuning run. A machine that turns out not to trace is asked for a trace only
/// once.
class SecondRun {
 public:
  /// Gets the results of each phase as soon as it has ended.
  using Keep = std::function<void(std::span<const PhaseResult>)>;

  SecondRun(Machine& machine, Keep keep) : machine_(machine), keep_(std::move(keep)) {}

  /// Runs candidates of one problem in turn with `sequential`, phase by phase. One that fails in a
  /// phase, or is slower than `sequential` there with 95 % confidence, is out, and runs in no later
  /// phase; so is one that is slower by its median in the steady phase, where `sequential` is the
  /// better choice. Returns the fastest of the others in the steady phase, or none. A phase that
  /// the machine cannot run decides nothing. The log reports each of these cases. `best` has at
  /// least one candidate, the fastest first.
  [[nodiscard]] std::optional<Confirmed> confirmed(std::vector<Candidate> best,
                                                   const Candidate& sequential);

 private:
  /// A candidate and the `sequential` that ran in turn with it.
  struct Paired {
    RunResult sequential{};
    RunResult result{};
  };
  using Results = std::vector<Paired>;  ///< of each candidate, in their order
  [[nodiscard]] Expected<Results> run_steady(const std::vector<Candidate>& best,
                                             const Candidate& sequential);
  /// Runs all candidates in turn. Where one takes its workers with it, which may be put down to
  /// another one, each runs by itself.
  [[nodiscard]] Expected<Results> run(std::span<const Candidate> best, const Candidate& sequential,
                                      RunOptions options);
  /// Tells `keep_` of the results. Takes the candidates that lose out of `best`.
  void sift(RunPhase phase, const Results& results, std::vector<Candidate>& best);
  [[nodiscard]] std::optional<double> overlap_of(const Candidate& winner,
                                                 const std::vector<Activity>& activities);

  Machine& machine_;
  Keep keep_;
  bool traces_ = true;       ///< the machine traces, as far as is known
  bool was_traced_ = false;  ///< the last steady phase had a trace
};

/// The winner with the values of its second run. `winner` has GEMM and collective alone as they
/// were by themselves (`gemm`); where the rounds of the second run timed them, they are as there,
/// at the clock of the winner. The rounds have the GEMM of the library; a generated one is taken to
/// be as much faster as it is by itself. They have one collective, so one that is faster by itself
/// stays.
[[nodiscard]] Winner with_second_run(Winner winner, const Confirmed& confirmed,
                                     const GemmTimes& gemm);

}  // namespace overlaptune
