#include "tuner/keep.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "tuner/validate.hpp"

namespace overlaptune {

Expected<std::optional<Winner>> WinnerKeeper::keep(JudgedProblem problem, bool run_again) {
  std::vector<Candidate>& candidates = problem.candidates;
  if (candidates.empty()) return std::nullopt;
  const Candidate sequential = candidates.front();
  if (!problem.finished) {
    const auto stored = store_.winner(run_.platform, sequential.problem, sequential.launch);
    if (stored && stored->run != run_.id) return std::nullopt;
  }
  if (sequential.verdict != Verdict::valid || !sequential.measured) {
    if (fastest(candidates) == nullptr) return std::nullopt;
    spdlog::warn("{}: no winner, since there is nothing to compare with: sequential is {}: {}",
                 to_string(sequential.problem), to_string(sequential.verdict), sequential.reason);
    return std::nullopt;
  }
  for (;;) {
    const Candidate* best = fastest(candidates);
    const auto gemm = gemm_times(machine_, best->problem, {best->config});
    if (!gemm) return error_of(gemm);
    const auto first = winner_of(*best, sequential, *gemm);
    if (!first) return error_of(first);
    if (!has_winner(sequential)) {
      Winner safe = *first;
      safe.candidate = sequential;
      safe.sequential = sequential.measured->median;
      store_.put_winner(run_.id, safe);
    }
    const bool as_it_is = strategy_of(best->config) == kBaseline || !run_again;
    auto winner =
        as_it_is ? std::optional(*first) : second_run_.confirmed(*first, sequential, *gemm);
    if (winner) {
      store_.put_winner(run_.id, *winner);
      return winner;
    }
    candidates.erase(candidates.begin() + (best - candidates.data()));
  }
}

bool WinnerKeeper::has_winner(const Candidate& candidate) const {
  return store_.has_winner(run_.platform, candidate.problem, candidate.launch);
}

Expected<Winner> WinnerKeeper::winner_of(const Candidate& best, const Candidate& sequential,
                                         const GemmTimes& gemm) {
  Winner winner{.candidate = best, .sequential = sequential.measured->median};
  // The time of `sequential` as it ran beside the winner.
  if (best.speedup) winner.sequential = best.measured->median * best.speedup->median;
  winner.gemm_alone = gemm.fastest;
  const auto collective =
      fastest_collective(machine_, best.problem, {sequential.config, best.config});
  if (!collective) return error_of(collective);
  winner.collective_alone = *collective;
  return winner;
}

}  // namespace overlaptune
