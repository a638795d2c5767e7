#pragma once
// The reasons why one config is predicted to beat the others.

#include <string>
#include <vector>

#include "model/search.hpp"
#include "reports/table.hpp"

namespace overlaptune::cli {

/// A config with its prediction.
struct Explained {
  Config config{};
  Prediction prediction{};
};

struct Explanation {
  Explained best{};
  Explained baseline{};  ///< `sequential`
  /// Fastest first: the best of every other strategy, and the next best of the winning one.
  std::vector<Explained> alternatives{};
};

/// Searches the full space. Throws `Failure` with the errors of `search` and `Model::predict`.
[[nodiscard]] Explanation explain(const Model& model, const Problem& problem, Launch launch);

/// Time of the collectives in which no GEMM runs.
[[nodiscard]] Microseconds exposed(const Prediction& prediction);

/// The bound of a config: `gemm` or `collective`, whichever takes longer alone.
[[nodiscard]] std::string bound_by(const Prediction& prediction);

/// "12.3 us slower: GEMM alone +2.1 us, exposed communication +10.2 us".
[[nodiscard]] std::string reason(const Explained& loser, const Explained& best);

/// A table with one line for each config, the best one first.
[[nodiscard]] Table table(const Explanation& explanation);

/// The array `alternatives` of `predict --json`.
[[nodiscard]] OrderedJson alternatives_json(const Explanation& explanation);

}  // namespace overlaptune::cli
