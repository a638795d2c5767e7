#pragma once
// Simulated faults: configs that fail on purpose, or are slow in one phase of a second run, to test
// what handles them.

#include <string_view>

#include "core/config/candidate.hpp"
#include "core/config/config.hpp"
#include "core/config/phase.hpp"
#include "machine/simulator/noise.hpp"

namespace overlaptune::sim {

/// Probabilities that a config hangs, computes a wrong result, crashes its worker, or loses a rank;
/// and that it is slow in one phase.
struct Faults {
  double hang = 0;
  double wrong = 0;
  double crash = 0;
  double rank_died = 0;
  double slow_cold = 0;
  double slow_beside = 0;
  bool sequential = false;  ///< `sequential` may fail too

  /// The verdict on a config, `valid` for most. It is the same for equal problems and configs.
  [[nodiscard]] Verdict verdict(const Config& config, const Noise& noise) const;
  /// The factor on the times of a config in a phase: 1 for most, and always for `sequential`.
  [[nodiscard]] double slowdown(const Config& config, RunPhase phase, const Noise& noise) const;
};

/// Reads "hang=0.02,wrong=0.01,crash=0.01,rank_died=0.01,slow_cold=0.5,slow_beside=0.5,
/// sequential=1"; empty means none. Error: an unknown name, a value that is not a probability, or a
/// sum above 1 of those that fail.
[[nodiscard]] Expected<Faults> parse_faults(std::string_view text);

/// The reason for a verdict, in one line.
[[nodiscard]] std::string fault_reason(Verdict verdict, int ranks);

}  // namespace overlaptune::sim
