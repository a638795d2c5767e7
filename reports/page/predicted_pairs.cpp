// The timelines of the HTML report.

#include <map>

#include "model/model.hpp"
#include "reports/page/page_data.hpp"
#include "reports/quality/picks.hpp"

namespace overlaptune {
namespace {

/// The fastest measured `sequential` of each problem.
std::map<ProblemKey, const Candidate*> baselines(const Snapshot& snapshot) {
  std::map<ProblemKey, const Candidate*> fastest;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    for (const StoredCandidate* row : rows) {
      const Candidate& candidate = row->candidate;
      if (!counts(candidate) || strategy_of(candidate.config) != kBaseline) continue;
      const Candidate*& best = fastest[key];
      if (best == nullptr || candidate.measured->median < best->measured->median) best = &candidate;
    }
  }
  return fastest;
}

}  // namespace

std::vector<std::optional<PredictedPair>> predicted_pairs(const Snapshot& snapshot) {
  std::map<PlatformId, Expected<Model>> models;
  for (const PlatformRecord& record : snapshot.platforms) {
    models.emplace(record.stored.id, Model::fit(record.stored.platform, record.measurements));
  }
  const auto sequential = baselines(snapshot);
  std::vector<std::optional<PredictedPair>> pairs;
  pairs.reserve(snapshot.winners.size());
  for (const StoredWinner& row : snapshot.winners) {
    auto& pair = pairs.emplace_back();
    const Candidate& winner = row.winner.candidate;
    const auto model = models.find(row.platform);
    const auto baseline = sequential.find({row.platform, winner.problem, winner.launch});
    if (model == models.end() || !model->second || baseline == sequential.end()) continue;
    const auto predict = [&](const Config& config) {
      return model->second->predict(winner.problem, config, winner.launch);
    };
    const auto mine = predict(winner.config);
    const auto other = predict(baseline->second->config);
    if (!mine || !other) continue;
    pair = {.winner = {mine->time, mine->timeline}, .sequential = {other->time, other->timeline}};
  }
  return pairs;
}

}  // namespace overlaptune
