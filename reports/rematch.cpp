#include "reports/rematch.hpp"

#include <algorithm>
#include <cmath>

#include "reports/picks.hpp"

namespace overlaptune {
namespace {

/// By what they took, in the measure of `sequential` beside them.
Rows by_time(const Rows& rows, Microseconds sequential) {
  Rows ran;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(ran),
               [](const StoredCandidate* row) { return counts(row->candidate); });
  std::stable_sort(ran.begin(), ran.end(), [&](const auto* a, const auto* b) {
    return paired_time(a->candidate, sequential) < paired_time(b->candidate, sequential);
  });
  return ran;
}

std::size_t added(const StoredCandidate& row, Rematch& rematch) {
  const auto at = std::find(rematch.configs.begin(), rematch.configs.end(), row.candidate.config);
  const auto index = static_cast<std::size_t>(at - rematch.configs.begin());
  if (at == rematch.configs.end()) {
    rematch.configs.push_back(row.candidate.config);
    rematch.predicted.push_back(row.candidate.predicted);
  }
  return index;
}

std::optional<Rematch> rematch_of(const ProblemKey& key, const Rows& rows, int shortlist,
                                  int fastest) {
  const Rows ran = by_time(rows, sequential_of(rows));
  const auto baseline = std::find_if(ran.begin(), ran.end(), [](const auto* row) {
    return row->candidate.origin == Origin::baseline;
  });
  Rows proposed = proposals(rows);
  std::erase_if(proposed, [](const auto* row) { return !counts(row->candidate); });
  if (baseline == ran.end() || proposed.empty()) return std::nullopt;
  Rematch rematch{.problem = std::get<Problem>(key), .launch = std::get<Launch>(key)};
  added(**baseline, rematch);
  rematch.first_choice = added(*proposed.front(), rematch);
  rematch.of_shortlist = added(*fastest_listed(rows, shortlist), rematch);  // the baseline at least
  for (std::size_t i = 0; i < ran.size() && i < static_cast<std::size_t>(fastest); ++i) {
    added(*ran[i], rematch);
  }
  return rematch;
}

}  // namespace

std::vector<Rematch> rematches(const Snapshot& snapshot, PlatformId platform, int shortlist,
                               int fastest) {
  std::vector<Rematch> list;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    if (std::get<PlatformId>(key) != platform) continue;
    if (auto rematch = rematch_of(key, rows, shortlist, fastest)) {
      list.push_back(std::move(*rematch));
    }
  }
  return list;
}

RegretSummary regret_of(const std::vector<Rematch>& rematches,
                        const std::vector<std::vector<double>>& ratios) {
  std::vector<Regret> regrets;
  for (std::size_t i = 0; i < rematches.size(); ++i) {
    double best = INFINITY;
    for (const double ratio : ratios[i]) best = std::fmin(best, ratio);
    const double first = ratios[i][rematches[i].first_choice];
    const double listed = ratios[i][rematches[i].of_shortlist];
    if (std::isnan(first) || std::isnan(listed)) continue;
    regrets.push_back({.top1 = first / best - 1, .shortlist = listed / best - 1});
  }
  return summary_of(regrets);
}

}  // namespace overlaptune
