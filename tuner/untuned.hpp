#pragma once
// How good answers are for problems that nobody tuned: on a machine, beside `sequential` and beside
// what a short tuning of the problem finds.

#include <cstdint>
#include <span>
#include <vector>

#include "machine/machine.hpp"
#include "model/learned_model.hpp"

namespace overlaptune {

/// `count` different problems between and around tuned ones: each takes op, dtype and ranks of one,
/// and sizes from 0.7 times the smaller to 1.4 times the larger of two with the same. m is any
/// number that the op allows, n and k are multiples that the elements allow. In each
/// dimension two thirds are multiples of 128, as layers have them, and one third are not even
/// multiples of 64. There are fewer where `fits` refuses most. The same seed draws the same
/// problems.
[[nodiscard]] std::vector<Problem> untuned_problems(std::span<const Problem> tuned,
                                                    const Platform& platform, int count,
                                                    std::uint64_t seed);

/// An answer, measured.
struct UntunedResult {
  Problem problem{};
  Config config{};           ///< the answer
  Microseconds predicted{};  ///< its predicted time
  Verdict verdict = Verdict::valid;
  /// Measured where the verdict is `valid`, else 0.
  Microseconds measured{};
  double over_sequential = 0;  ///< its time over that of `sequential`, paired
  Config best{};               ///< the fastest config of the short tuning, or the answer
  double over_best = 1;        ///< its time over that of the faster of itself and `best`, paired
};

/// Tunes the problem as `tune` would, with at most `top_k` candidates, storing nothing. Then runs
/// `sequential`, the answer and the fastest candidate side by side. Error: the machine is lost, or
/// cannot hold the problem; the problem cannot be predicted.
/// `answer` is a config with its predicted time.
[[nodiscard]] Expected<UntunedResult> run_untuned(Machine& machine, LearnedModel& model,
                                                  const Problem& problem, Launch launch,
                                                  const Scored& answer, int top_k);

/// The results whose answer ran, summed up. Errors and regrets are relative; NaN where none ran.
struct UntunedSummary {
  int problems = 0;
  int failed = 0;  ///< answers that did not run, which are not among `problems`
  double error_mean = 0;
  double error_most = 0;
  double regret_mean = 0;
  double regret_most = 0;
  double speedup = 0;              ///< over `sequential`: the geometric mean
  int slower_than_sequential = 0;  ///< by more than 2 %, which noise does not explain
};
[[nodiscard]] UntunedSummary summary_of(std::span<const UntunedResult> results);

}  // namespace overlaptune
