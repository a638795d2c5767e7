#pragma once
// The phases of a second run: under which conditions configs are timed once more.

#include <optional>
#include <string>

#include "core/config/candidate.hpp"
#include "core/statistics.hpp"

namespace overlaptune {

/// The conditions of timed runs.
enum class RunPhase {
  steady,  ///< the GPUs do this work all the time, so that clock and power have settled
  cold,    ///< the first run of a burst: caches hold other data, and the GPU was idle
  beside,  ///< on each GPU another kernel copies memory on `kCopySms` SMs meanwhile
};

/// SMs that the other kernel of `RunPhase::beside` holds.
inline constexpr int kCopySms = 8;

template <>
struct NamesOf<RunPhase> {
  static constexpr std::string_view what = "phase";
  static constexpr std::array<Named<RunPhase>, 3> all{
      {{RunPhase::steady, "steady"}, {RunPhase::cold, "cold"}, {RunPhase::beside, "beside"}}};
};

/// A config in one phase of a second run, in turn with `sequential`.
struct PhaseResult {
  Problem problem{};
  Launch launch = Launch::graph;
  Config config{};
  RunPhase phase = RunPhase::steady;
  Verdict verdict = Verdict::valid;
  std::string reason{};                      ///< why it is not valid; empty for `valid`
  std::optional<Summary> measured{};         ///< slowest rank of each repetition; absent: not timed
  std::optional<Microseconds> sequential{};  ///< median of `sequential` in the same rounds
  /// `sequential` over this config, paired by repetition (unit: a ratio): the median, and an
  /// interval that holds it with 95 % confidence (`median_interval`).
  struct Speedup {
    double median = 1;
    double low = 1;
    double high = 1;
    friend bool operator==(const Speedup&, const Speedup&) = default;
  };
  /// Absent where one of the two was not timed, and for too few repetitions.
  std::optional<Speedup> speedup{};
  Conditions conditions{};
  friend bool operator==(const PhaseResult&, const PhaseResult&) = default;
};

/// Whether a config cannot win after this phase: it failed, is slower than `sequential` with 95 %
/// confidence, or, in the steady phase, is slower by its median, so that `sequential` is the better
/// choice.
[[nodiscard]] inline bool rules_out(const PhaseResult& result) {
  if (result.verdict != Verdict::valid) return true;
  if (!result.speedup) return false;
  return result.speedup->high < 1 ||
         (result.phase == RunPhase::steady && result.speedup->median < 1);
}

}  // namespace overlaptune
