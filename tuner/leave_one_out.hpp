#pragma once
// Predictions as they would be if a problem had never been measured: the fair judge of a model that
// learns from what was measured.

#include <vector>

#include "db/store.hpp"
#include "model/corrections.hpp"

namespace overlaptune {

/// The results that one platform's model is made of.
struct PlatformResults {
  Platform platform{};
  std::vector<Measurement> measurements{};
  std::vector<StoredCandidate> candidates{};  ///< of this platform
};

enum class Learning {
  off,  ///< the analytic model, from probes alone
  on,   ///< the learned model, which also knows the candidates of all other problems
};

struct LeftOut {
  /// The stored candidates that ran and could be predicted, with the prediction and (but for
  /// candidates of `explore`) the rank by a model that knows nothing of their problem.
  std::vector<StoredCandidate> candidates{};
  /// How many of them took a time between the p10 and the p90 of their prediction. Without learning
  /// there are none.
  int inside = 0;
};

/// Predicts the candidates of each problem by a model that is fitted without them, and without the
/// probes of GEMMs of exactly this size. Problems that differ in their op alone are left out
/// together. Error: the model cannot be fitted.
[[nodiscard]] Expected<LeftOut> leave_one_out(const PlatformResults& results, Learning learning);

}  // namespace overlaptune
