#pragma once
// The reasons why one config is predicted to beat the others.

#include <string>
#include <vector>

#include "model/learned_model.hpp"

namespace overlaptune {

/// A config with its prediction by the analytic model, and with the time that measured configs make
/// of it.
struct Explained {
  LearnedScore score{};
  Prediction prediction{};
};

struct Explanation {
  std::size_t learned_from = 0;  ///< measured configs
  Explained best{};
  Explained baseline{};  ///< `sequential`
  /// Fastest first: the best of every other strategy, and the next two of the winning one.
  std::vector<Explained> alternatives{};
};

/// Considers the configs from which answers are predicted. Throws `Failure` with the errors of
/// `search` and `Model::predict`.
[[nodiscard]] Explanation explain(const LearnedModel& model, const Problem& problem, Launch launch);

/// Time of the collectives in which no GEMM runs.
[[nodiscard]] Microseconds exposed(const Prediction& prediction);

/// The corrections that measured configs taught for the time of a config.
[[nodiscard]] double learned_us(const Explained& row);

/// Time that the analytic model adds to the GEMM alone and to the exposed communication: the GEMM
/// is slower beside a collective, waits for SMs, and each launch costs time.
[[nodiscard]] double beside_us(const Explained& row);

/// The bound of a config: `gemm` or `collective`, whichever takes longer alone.
[[nodiscard]] std::string bound_by(const Prediction& prediction);

/// "+12.4 us: GEMM alone +2.1 us, exposed communication +10.2 us, GEMM beside it and launches
/// +0.0 us, learned +0.1 us". The terms add up to the difference.
[[nodiscard]] std::string reason(const Explained& loser, const Explained& best);

}  // namespace overlaptune
