#pragma once
// Predictions as they would be if a problem had never been measured: the fair judge of a model that
// learns from what was measured.

#include <span>
#include <vector>

#include "db/store.hpp"

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

/// The answer that a problem would get, of its stored candidates: `sequential`, or the first
/// where that is surely faster (model/learned_model.hpp).
struct LeftOutChoice {
  bool is_sequential = false;
  double over_sequential = 1;  ///< its measured time over that of `sequential`
  double over_best = 1;        ///< ... and over that of the fastest candidate
};

struct LeftOut {
  /// The stored candidates that ran and could be predicted, with the prediction and (but for
  /// candidates of `explore`) the rank by a model that knows nothing of their problem.
  std::vector<StoredCandidate> candidates{};
  /// How many of them took a time between the p10 and the p90 of their prediction. Without learning
  /// there are none.
  int inside = 0;
  /// One for each problem and launch with a measured `sequential`.
  std::vector<LeftOutChoice> choices{};
};

/// The choices of a kind, summed up.
struct ChoiceSummary {
  int left = 0;            ///< answers that are not `sequential`
  int slower = 0;          ///< ... and took over 2 % longer than it
  double most_slower = 0;  ///< by how much the slowest of them did, relative; 0: none is slower
  int stayed = 0;          ///< answers that are `sequential`
  double stayed_loss = 0;  ///< by how much they were slower than the best, in the mean
};
[[nodiscard]] ChoiceSummary summary_of(std::span<const LeftOutChoice> choices);

/// Predicts the candidates of each problem by a model that is fitted without them, and without the
/// probes of GEMMs of exactly this size. Problems that differ in their op alone are left out
/// together. Error: the model cannot be fitted.
[[nodiscard]] Expected<LeftOut> leave_one_out(const PlatformResults& results, Learning learning);

}  // namespace overlaptune
