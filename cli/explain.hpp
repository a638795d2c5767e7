#pragma once
// Why one config is predicted to beat the others.

#include <string>
#include <vector>

#include "model/search.hpp"
#include "reports/table.hpp"

namespace overlaptune::cli {

/// A config with everything that the model says of it.
struct Explained {
  Config config{};
  Prediction prediction{};
};

struct Explanation {
  Explained best{};
  Microseconds baseline{};  ///< `sequential`, predicted
  /// Fastest first: the best of every other strategy, and the next best of the winning one.
  std::vector<Explained> alternatives{};
};

/// Searches the full space. Throws `Failure` as `search` and `Model::predict` return errors.
[[nodiscard]] Explanation explain(const Model& model, const Problem& problem, Launch launch);

/// Time of the collectives in which no GEMM runs.
[[nodiscard]] Microseconds exposed(const Prediction& prediction);

/// What it comes down to: `gemm` or `collective`, whichever alone takes longer.
[[nodiscard]] std::string bound_by(const Prediction& prediction);

/// "12.3 us slower: GEMM alone +2.1 us, exposed communication +10.2 us".
[[nodiscard]] std::string reason(const Explained& loser, const Explained& best);

/// One line a config, the best one first.
[[nodiscard]] Table table(const Explanation& explanation);

/// The array `alternatives` of `predict --json`.
[[nodiscard]] OrderedJson alternatives_json(const Explanation& explanation);

}  // namespace overlaptune::cli
