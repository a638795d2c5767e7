#include "tuner/stored_work.hpp"

#include <algorithm>

namespace overlaptune {

StoredWork::StoredWork(const Store& store, const TuningRun& run, std::span<const Problem> problems,
                       std::span<const Launch> launches)
    : store_(store), run_(run) {
  for (const Problem& problem : problems) {
    for (const Launch launch : launches) {
      const std::size_t stored = store.candidates(run.id, problem, launch).size();
      if (stored == 0) continue;
      counts_[{problem, launch}] = stored;
      most_ = std::max(most_, stored);
    }
  }
}

std::size_t StoredWork::count(const Problem& problem, Launch launch) const {
  const auto found = counts_.find({problem, launch});
  return found == counts_.end() ? 0 : found->second;
}

bool StoredWork::is_short(const Problem& problem, Launch launch) const {
  return most_ == 0 || count(problem, launch) < most_;
}

bool StoredWork::has_any(std::span<const Problem> problems) const {
  return std::any_of(counts_.begin(), counts_.end(), [&](const auto& row) {
    return std::find(problems.begin(), problems.end(), row.first.first) != problems.end();
  });
}

std::optional<Winner> StoredWork::finished(const Problem& problem, Launch launch) const {
  if (is_short(problem, launch)) return std::nullopt;
  const auto winner = store_.winner(run_.platform, problem, launch);
  if (!winner || winner->run != run_.id) return std::nullopt;
  return winner->winner;
}

}  // namespace overlaptune
