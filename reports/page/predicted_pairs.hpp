#pragma once
// The timelines of the HTML report.

#include <optional>
#include <vector>

#include "reports/page/page_data.hpp"

namespace overlaptune {

/// Predictions of the analytic model, fitted to the probes of each platform, for each winner and
/// for the fastest `sequential` of its problem. None where a model cannot be fitted or does not
/// know the config.
[[nodiscard]] std::vector<std::optional<PredictedPair>> predicted_pairs(const Snapshot& snapshot);

}  // namespace overlaptune
