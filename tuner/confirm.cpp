#include "tuner/confirm.hpp"

#include "core/timeline_activities.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {

Expected<Confirmed> confirm(Machine& machine, const Candidate& winner, const Candidate& sequential,
                            bool traced) {
  constexpr int kRepetitions = 24;
  const std::vector<Config> configs{sequential.config, winner.config};
  auto results = machine.run(winner.problem, configs,
                             {.launch = winner.launch,
                              .repetitions = kRepetitions,
                              .timeline = traced,
                              .spread = true,
                              .expected = {sequential.predicted, winner.predicted}});
  if (!results) return tl::make_unexpected(results.error());
  Confirmed confirmed{.candidate = judged(winner, results->back(), results->front())};
  RunResult& result = results->back();
  confirmed.activities = result.activities.empty() && result.timeline
                             ? activities_of(*result.timeline, winner.problem.op)
                             : std::move(result.activities);
  return confirmed;
}

}  // namespace overlaptune
