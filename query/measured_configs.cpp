#include "query/measured_configs.hpp"

#include "core/config/check.hpp"

namespace overlaptune {

MeasuredConfigs::MeasuredConfigs(std::span<const Candidate> candidates,
                                 const Capabilities& capabilities) {
  const auto is_measured = [](const Candidate& candidate) {
    return candidate.verdict == Verdict::valid && candidate.measured;
  };
  for (const Candidate& candidate : candidates) {
    if (candidate.origin != Origin::baseline || !is_measured(candidate)) continue;
    problems_[{candidate.problem, candidate.launch}].sequential = candidate.measured->median;
  }
  for (const Candidate& candidate : candidates) {
    if (!is_measured(candidate)) continue;
    OfProblem& all = problems_[{candidate.problem, candidate.launch}];
    auto& fastest = all.fastest.at(static_cast<std::size_t>(strategy_of(candidate.config)));
    const Microseconds paired = paired_time(candidate, all.sequential);
    if (fastest && fastest->paired <= paired) continue;
    if (!check(candidate.problem, candidate.config, capabilities)) continue;
    fastest =
        std::make_unique<MeasuredConfig>(MeasuredConfig{.config = candidate.config,
                                                        .predicted = candidate.predicted,
                                                        .measured = candidate.measured->median,
                                                        .paired = paired});
    if (candidate.speedup) {
      fastest->sequential = fastest->measured * candidate.speedup->median;
    } else if (candidate.origin == Origin::baseline) {
      fastest->sequential = fastest->measured;
    }
  }
}

const MeasuredConfig* MeasuredConfigs::fastest(const Problem& problem, const Terms& terms) const {
  const auto found = problems_.find({problem, terms.launch});
  if (found == problems_.end()) return nullptr;
  const MeasuredConfig* best = nullptr;
  for (const StrategyTraits& traits : kStrategies) {
    const auto& each = found->second.fastest.at(static_cast<std::size_t>(traits.strategy));
    if (!each || !allows(terms, traits.strategy)) continue;
    if (best == nullptr || each->paired < best->paired) best = each.get();
  }
  return best;
}

}  // namespace overlaptune
