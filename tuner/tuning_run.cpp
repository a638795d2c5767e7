#include "tuner/tuning_run.hpp"

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

}  // namespace overlaptune
