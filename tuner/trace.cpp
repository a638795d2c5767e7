#include "tuner/trace.hpp"

#include <fmt/format.h>

#include "core/timeline_activities.hpp"

namespace overlaptune {

Expected<std::vector<Activity>> trace(Machine& machine, const Candidate& candidate) {
  const std::vector<Config> configs{candidate.config};
  auto results = machine.run(candidate.problem, configs,
                             {.launch = candidate.launch,
                              .repetitions = 1,
                              .timeline = true,
                              .expected = {candidate.predicted}});
  if (!results) return tl::make_unexpected(results.error());
  RunResult& result = results->back();
  if (result.verdict != Verdict::valid) {
    return tl::make_unexpected(
        Error{ErrorKind::nothing_validated,
              fmt::format("{} this time: {}", to_string(result.verdict), result.reason)});
  }
  if (result.activities.empty() && result.timeline) {
    return activities_of(*result.timeline, candidate.problem.op);
  }
  return std::move(result.activities);
}

}  // namespace overlaptune
