#pragma once
// Choosing and storing the winner of a problem.

#include <optional>
#include <span>
#include <vector>

#include "db/store.hpp"
#include "machine/machine.hpp"
#include "tuner/judge.hpp"
#include "tuner/second_run.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {

/// The winner of a problem, if it has one, and the configs that cannot be it.
struct Kept {
  std::optional<Winner> winner{};
  std::vector<Config> ruled_out{};  ///< by second runs
};

/// Keeps the winners of one tuning run.
class WinnerKeeper {
 public:
  WinnerKeeper(Machine& machine, Store& store, const TuningRun& run)
      : machine_(machine),
        store_(store),
        run_(run),
        second_run_(machine, [&store, id = run.id](std::span<const PhaseResult> results) {
          store.add_phase_results(id, results);
        }) {}

  /// Stores the winner, with the times that it is compared with. A second run of the fastest
  /// candidates chooses it: the three fastest at most, and of them those that take up to 5 % longer
  /// than the fastest. Where it leaves none, the next ones have a second run; once all that are
  /// faster than `sequential` are out, `sequential` wins, which has no second run of its own.
  /// Without `run_again` the fastest candidate wins without a second run. The first choice is
  /// stored before its second run, so that the database has a winner even if that run fails.
  /// There is no winner where nothing was measured or `sequential` was not timed; nor where the
  /// problem is not finished and the database already has a winner of another run, which may be
  /// chosen from more candidates.
  /// Error: the machine is lost.
  [[nodiscard]] Expected<Kept> keep(JudgedProblem problem, bool run_again);

 private:
  [[nodiscard]] Expected<Winner> winner_of(const Candidate& best, const Candidate& sequential,
                                           const GemmTimes& gemm);

  Machine& machine_;
  Store& store_;
  TuningRun run_;
  SecondRun second_run_;
};

}  // namespace overlaptune
