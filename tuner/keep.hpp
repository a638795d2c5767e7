#pragma once
// Choosing and storing the winner of a problem.

#include <optional>

#include "db/store.hpp"
#include "machine/machine.hpp"
#include "tuner/judge.hpp"
#include "tuner/second_run.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {

/// Keeps the winners of one tuning run.
class WinnerKeeper {
 public:
  WinnerKeeper(Machine& machine, Store& store, const TuningRun& run)
      : machine_(machine), store_(store), run_(run), second_run_(machine) {}

  /// Stores the fastest candidate that stays faster than `sequential` in a second run, with the
  /// times that it is compared with. If there is none, `sequential` wins; it has no second run.
  /// Without `run_again` the fastest candidate wins without a second run. The first choice is
  /// stored before its second run, so that the database has a winner even if that run fails.
  /// There is no winner where nothing was measured or `sequential` was not timed; nor where the
  /// problem is not finished and the database already has a winner of another run, which may be
  /// chosen from more candidates.
  /// Error: the machine is lost.
  [[nodiscard]] Expected<std::optional<Winner>> keep(JudgedProblem problem, bool run_again);

 private:
  /// Whether the problem of a candidate has a winner in the database, from any run.
  [[nodiscard]] bool has_winner(const Candidate& candidate) const;
  [[nodiscard]] Expected<Winner> winner_of(const Candidate& best, const Candidate& sequential,
                                           const GemmTimes& gemm);

  Machine& machine_;
  Store& store_;
  TuningRun run_;
  SecondRun second_run_;
};

}  // namespace overlaptune
