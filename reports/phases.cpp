#include "reports/phases.hpp"

#include "reports/json.hpp"

namespace overlaptune {
WinnerPhases::WinnerPhases(const Snapshot& snapshot) {
  for (const StoredPhaseResult& row : snapshot.phase_results) {
    const PhaseResult& result = row.result;
    results_.emplace(Key{row.run, result.problem, result.launch, result.config, result.phase},
                     &result);
  }
}

const PhaseResult* WinnerPhases::of(const StoredWinner& winner, RunPhase phase) const {
  const Candidate& candidate = winner.winner.candidate;
  const auto found =
      results_.find({winner.run, candidate.problem, candidate.launch, candidate.config, phase});
  return found == results_.end() ? nullptr : found->second;
}

std::optional<double> WinnerPhases::speedup(const StoredWinner& winner, RunPhase phase) const {
  const PhaseResult* const result = of(winner, phase);
  return result == nullptr ? std::nullopt : part_of(result->speedup, &PhaseResult::Speedup::median);
}

Table phases(const Snapshot& snapshot) {
  Table table{
      .name = "phases",
      .columns = columns_of("platform, problem, launch, config, phase, verdict, measured_us, "
                            "sequential_us, speedup:3, speedup_low:3, speedup_high:3, reason")};
  for (const StoredPhaseResult& row : snapshot.phase_results) {
    const PhaseResult& result = row.result;
    table.rows.push_back(
        {snapshot.platform_name(row.platform), to_string(result.problem), cell(result.launch),
         to_string(result.config), cell(result.phase), cell(result.verdict),
         cell(part_of(result.measured, &Summary::median)), cell(result.sequential),
         cell(part_of(result.speedup, &PhaseResult::Speedup::median)),
         cell(part_of(result.speedup, &PhaseResult::Speedup::low)),
         cell(part_of(result.speedup, &PhaseResult::Speedup::high)), result.reason});
  }
  return table;
}

OrderedJson json_of(const WinnerPhases& phases, const StoredWinner& winner) {
  OrderedJson list = OrderedJson::array();
  for (const auto& named : NamesOf<RunPhase>::all) {
    const PhaseResult* const result = phases.of(winner, named.value);
    if (result == nullptr) continue;
    list.push_back(
        {{"phase", named.name},
         {"verdict", to_string(result->verdict)},
         {"measured_us", json_of(part_of(result->measured, &Summary::median))},
         {"sequential_us", json_of(result->sequential)},
         {"speedup", json_of(part_of(result->speedup, &PhaseResult::Speedup::median))},
         {"speedup_low", json_of(part_of(result->speedup, &PhaseResult::Speedup::low))},
         {"speedup_high", json_of(part_of(result->speedup, &PhaseResult::Speedup::high))}});
  }
  return list;
}

}  // namespace overlaptune
