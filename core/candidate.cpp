#include "core/candidate.hpp"

#include <algorithm>

namespace overlaptune {

std::optional<double> hidden_fraction(const Winner& winner) {
  constexpr double kLeastShare = 0.03;
  const Microseconds ideal = std::max(winner.gemm_alone, winner.collective_alone);
  const Microseconds hideable = winner.sequential - ideal;
  if (!winner.candidate.measured || hideable < kLeastShare * winner.sequential) return std::nullopt;
  return (winner.sequential - winner.candidate.measured->median) / hideable;
}

}  // namespace overlaptune
