#include "core/config/candidate.hpp"

#include <algorithm>

namespace overlaptune {

Microseconds paired_time(const Candidate& candidate, Microseconds sequential) {
  if (candidate.speedup) return sequential / candidate.speedup->median;
  return candidate.measured->median;
}

const Candidate* fastest(const std::vector<Candidate>& candidates) {
  Microseconds sequential = us(1);
  for (const Candidate& candidate : candidates) {
    if (candidate.origin == Origin::baseline && candidate.measured) {
      sequential = candidate.measured->median;
    }
  }
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.verdict != Verdict::valid || !candidate.measured) continue;
    if (best == nullptr || paired_time(candidate, sequential) < paired_time(*best, sequential)) {
      best = &candidate;
    }
  }
  return best;
}

std::optional<double> hidden_fraction(const Winner& winner) {
  constexpr double kLeastShare = 0.03;
  if (winner.gemm_alone <= us(0) || winner.collective_alone <= us(0)) return std::nullopt;
  const Microseconds ideal = std::max(winner.gemm_alone, winner.collective_alone);
  const Microseconds hideable = winner.sequential - ideal;
  if (!winner.candidate.measured || hideable < kLeastShare * winner.sequential) return std::nullopt;
  // Not every GEMM and collective was timed, so a winner may take less than its ideal.
  return std::min(1.0, (winner.sequential - winner.candidate.measured->median) / hideable);
}

}  // namespace overlaptune
