#include "core/candidate.hpp"

#include <algorithm>

namespace overlaptune {

Microseconds paired_time(const Candidate& candidate, Microseconds sequential) {
  if (candidate.speedup) return sequential / candidate.speedup->median;
  return candidate.measured->median;
}

std::optional<double> hidden_fraction(const Winner& winner) {
  constexpr double kLeastShare = 0.03;
  const Microseconds ideal = std::max(winner.gemm_alone, winner.collective_alone);
  const Microseconds hideable = winner.sequential - ideal;
  if (!winner.candidate.measured || hideable < kLeastShare * winner.sequential) return std::nullopt;
  return (winner.sequential - winner.candidate.measured->median) / hideable;
}

}  // namespace overlaptune
