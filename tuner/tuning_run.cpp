#include "tuner/tuning_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/hash.hpp"

namespace overlaptune {

std::string request_of(std::span<const Problem> problems, const TuneOptions& options) {
  std::uint64_t hash = fnv1a("");
  for (const Problem& problem : problems) hash = fnv1a(to_string(problem) + "\n", hash);
  std::string launches;
  for (const Launch launch : options.launches) {
    launches += (launches.empty() ? "" : "+") + std::string(to_string(launch));
  }
  return fmt::format("problems={} digest={:016x} top_k={} explore={} launch={} seed={}",
                     problems.size(), hash, options.top_k, options.explore, launches,
                     options.provenance.seed);
}

Expected<TuningRun> open_run(Store& store, PlatformId platform, std::span<const Problem> problems,
                             const TuneOptions& options) {
  const std::string request = request_of(problems, options);
  const auto last = options.resume ? store.last_tuning_run(platform) : std::nullopt;
  if (!last) {
    return TuningRun{.id = store.begin_tuning_run(platform, request, options.provenance),
                     .platform = platform,
                     .request = request,
                     .provenance = options.provenance};
  }
  if (last->request != request) {
    return bad_input(fmt::format(
        "--resume: the last tuning run was another request ({}), this one is ({}): give the same "
        "problems and options, or start a new run without --resume",
        last->request, request));
  }
  return *last;
}

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

bool StoredWork::is_short(const Problem& problem, Launch launch) const {
  const auto found = counts_.find({problem, launch});
  return found == counts_.end() || found->second < most_;
}

bool StoredWork::has_any(std::span<const Problem> problems) const {
  return std::ranges::any_of(counts_, [&](const auto& row) {
    return std::ranges::find(problems, row.first.first) != problems.end();
  });
}

std::optional<Winner> StoredWork::finished(const Problem& problem, Launch launch) const {
  if (is_short(problem, launch)) return std::nullopt;
  const auto winner = store_.winner(run_.platform, problem, launch);
  if (!winner || winner->run != run_.id) return std::nullopt;
  return winner->winner;
}

}  // namespace overlaptune
