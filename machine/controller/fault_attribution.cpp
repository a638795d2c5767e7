#include "machine/controller/fault_attribution.hpp"

#include <map>

namespace overlaptune::cuda {

std::optional<std::size_t> config_at_fault(const Loss& loss, std::size_t configs) {
  std::map<int, int> votes;
  for (const auto& step : loss.steps) {
    if (step) ++votes[step->config];
  }
  const auto own_rank = static_cast<std::size_t>(loss.rank);
  const auto& own = own_rank < loss.steps.size() ? loss.steps[own_rank] : std::nullopt;
  std::optional<int> chosen;
  for (const auto& [config, count] : votes) {
    const bool more = !chosen || count > votes[*chosen];
    const bool tie_of_lost = chosen && count == votes[*chosen] && own && own->config == config;
    if (more || tie_of_lost) chosen = config;
  }
  if (!chosen || *chosen < 0 || static_cast<std::size_t>(*chosen) >= configs) return std::nullopt;
  return static_cast<std::size_t>(*chosen);
}

Verdict verdict_of(const Loss& loss) {
  switch (loss.how) {
    case Loss::How::hung:
      return Verdict::timeout;
    case Loss::How::killed:
      return Verdict::rank_died;
    default:
      return Verdict::crashed;
  }
}

}  // namespace overlaptune::cuda
