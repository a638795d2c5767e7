#include "reports/quality/picks.hpp"

#include <algorithm>
#include <utility>

namespace overlaptune {

bool counts(const Candidate& candidate) {
  return candidate.verdict == Verdict::valid && candidate.measured &&
         candidate.measured->median.count() > 0;
}

Microseconds sequential_of(const Rows& rows) {
  for (const StoredCandidate* row : rows) {
    if (counts(row->candidate) && row->candidate.origin == Origin::baseline) {
      return row->candidate.measured->median;
    }
  }
  return us(1);
}

std::map<ProblemKey, Rows> newest_by_problem(const std::vector<StoredCandidate>& candidates) {
  std::map<std::pair<ProblemKey, Config>, const StoredCandidate*> newest;
  for (const StoredCandidate& row : candidates) {
    const Candidate& candidate = row.candidate;
    const ProblemKey key{row.platform, candidate.problem, candidate.launch};
    const auto [at, is_new] = newest.emplace(std::pair{key, candidate.config}, &row);
    if (!is_new && row.run > at->second->run) at->second = &row;
  }
  std::map<ProblemKey, Rows> groups;
  for (const auto& [key, row] : newest) groups[key.first].push_back(row);
  return groups;
}

Rows proposals(const Rows& rows) {
  Rows ranked;
  TuningRunId run = 0;
  for (const StoredCandidate* row : rows) {
    if (row->candidate.rank_by_model) run = std::max(run, row->run);
  }
  for (const StoredCandidate* row : rows) {
    if (row->candidate.rank_by_model && row->run == run) ranked.push_back(row);
  }
  std::ranges::sort(ranked, {}, [](const auto* row) { return *row->candidate.rank_by_model; });
  return ranked;
}

const StoredCandidate* fastest_listed(const Rows& rows, int shortlist) {
  Rows listed = proposals(rows);
  if (std::ssize(listed) > shortlist) listed.resize(static_cast<std::size_t>(shortlist));
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(listed),
               [](const auto* row) { return row->candidate.origin == Origin::baseline; });
  std::erase_if(listed, [](const auto* row) { return !counts(row->candidate); });
  const Microseconds unit = sequential_of(rows);
  const auto fastest = std::ranges::min_element(
      listed, {}, [&](const auto* row) { return paired_time(row->candidate, unit); });
  return fastest == listed.end() ? nullptr : *fastest;
}

}  // namespace overlaptune
