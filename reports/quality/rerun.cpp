#include "reports/quality/rerun.hpp"

#include <algorithm>
#include <cmath>

#include "reports/quality/picks.hpp"

namespace overlaptune {
namespace {

/// The rows that ran, sorted by `paired_time`.
Rows by_time(const Rows& rows, Microseconds sequential) {
  Rows ran;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(ran),
               [](const StoredCandidate* row) { return counts(row->candidate); });
  std::ranges::stable_sort(
      ran, {}, [&](const auto* row) { return paired_time(row->candidate, sequential); });
  return ran;
}

std::size_t added(const StoredCandidate& row, Rerun& rerun) {
  const auto at = std::find(rerun.configs.begin(), rerun.configs.end(), row.candidate.config);
  const auto index = static_cast<std::size_t>(at - rerun.configs.begin());
  if (at == rerun.configs.end()) {
    rerun.configs.push_back(row.candidate.config);
    rerun.predicted.push_back(row.candidate.predicted);
  }
  return index;
}

std::optional<Rerun> rerun_of(const ProblemKey& key, const Rows& rows, int shortlist, int fastest) {
  const Rows ran = by_time(rows, sequential_of(rows));
  const auto baseline = std::find_if(ran.begin(), ran.end(), [](const auto* row) {
    return row->candidate.origin == Origin::baseline;
  });
  Rows proposed = proposals(rows);
  std::erase_if(proposed, [](const auto* row) { return !counts(row->candidate); });
  if (baseline == ran.end() || proposed.empty()) return std::nullopt;
  Rerun rerun{.problem = std::get<Problem>(key), .launch = std::get<Launch>(key)};
  added(**baseline, rerun);
  rerun.first_choice = added(*proposed.front(), rerun);
  rerun.of_shortlist = added(*fastest_listed(rows, shortlist), rerun);  // at least the baseline
  for (std::size_t i = 0; i < ran.size() && i < static_cast<std::size_t>(fastest); ++i) {
    added(*ran[i], rerun);
  }
  return rerun;
}

}  // namespace

std::vector<Rerun> reruns(const Snapshot& snapshot, PlatformId platform, int shortlist,
                          int fastest) {
  std::vector<Rerun> list;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    if (std::get<PlatformId>(key) != platform) continue;
    if (auto rerun = rerun_of(key, rows, shortlist, fastest)) {
      list.push_back(std::move(*rerun));
    }
  }
  return list;
}

RegretSummary regret_of(const std::vector<Rerun>& reruns,
                        const std::vector<std::vector<double>>& ratios) {
  std::vector<Regret> regrets;
  for (std::size_t i = 0; i < reruns.size(); ++i) {
    double best = INFINITY;
    for (const double ratio : ratios[i]) best = std::fmin(best, ratio);
    const double first = ratios[i][reruns[i].first_choice];
    const double listed = ratios[i][reruns[i].of_shortlist];
    if (std::isnan(first) || std::isnan(listed)) continue;
    regrets.push_back({.top1 = first / best - 1, .shortlist = listed / best - 1});
  }
  return summary_of(regrets);
}

}  // namespace overlaptune
