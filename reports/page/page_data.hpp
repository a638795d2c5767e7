#pragma once
// The data of the HTML report, as one JSON document. reports/html/src/data.ts declares its fields.

#include <optional>
#include <string>
#include <vector>

#include "core/timeline.hpp"
#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// A config of a problem as the model predicts it.
struct PredictedRun {
  Microseconds time{};
  Timeline timeline{};
};

/// A winner beside `sequential` of the same problem, both predicted.
struct PredictedPair {
  PredictedRun winner{};
  PredictedRun sequential{};
};

/// Predictions of the analytic model, fitted to the probes of each platform, for each winner and
/// for the fastest `sequential` of its problem. None where a model cannot be fitted or does not
/// know the config.
[[nodiscard]] std::vector<std::optional<PredictedPair>> predicted_pairs(const Snapshot& snapshot);

struct PageInput {
  const Snapshot& snapshot;
  const std::optional<Snapshot>& other;  ///< compared with, if there is one
  /// `predicted_pairs(snapshot)`
  std::vector<std::optional<PredictedPair>> predicted{};
  int shortlist = 5;       ///< as in `evaluate`
  std::string version{};   ///< of this program
  std::string database{};  ///< name of the file
  std::string compared{};  ///< name of the other file
  std::string made_at{};   ///< UTC, ISO 8601
};

/// The document: `format`, `made`, `platforms` (with summary, evaluation, passes of models and
/// conditions), and the tables `winners`, `candidates`, `collectives`, `failures`; `comparison`, or
/// null. A table is `{columns, rows}`, a row an array. Times are in microseconds.
[[nodiscard]] OrderedJson page_data(const PageInput& input);

}  // namespace overlaptune
