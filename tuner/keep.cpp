#include "tuner/keep.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace overlaptune {
namespace {

constexpr std::size_t kMostRunAgain = 3;
/// Time of a candidate, compared with the fastest, up to which it has a second run. A slower one
/// would only win if the others were out, and then its turn comes.
constexpr double kNear = 1.05;

/// The candidates for the next second run, the fastest first; `sequential` alone where none is
/// faster than it.
std::vector<Candidate> for_second_run(std::vector<Candidate> candidates,
                                      const Candidate& sequential) {
  const Microseconds baseline = sequential.measured->median;
  std::vector<Candidate> best;
  while (best.size() < kMostRunAgain) {
    const Candidate* next = fastest(candidates);
    if (next == nullptr || (next->config == sequential.config && !best.empty())) break;
    if (!best.empty() &&
        paired_time(*next, baseline) > kNear * paired_time(best.front(), baseline)) {
      break;
    }
    best.push_back(*next);
    if (next->config == sequential.config) break;
    candidates.erase(candidates.begin() + (next - candidates.data()));
  }
  return best;
}

}  // namespace

Expected<Kept> WinnerKeeper::keep(JudgedProblem problem, bool run_again) {
  std::vector<Candidate>& candidates = problem.candidates;
  if (candidates.empty()) return Kept{};
  const Candidate sequential = candidates.front();
  if (!problem.finished) {
    const auto stored = store_.winner(run_.platform, sequential.problem, sequential.launch);
    if (stored && stored->run != run_.id) return Kept{};
  }
  if (sequential.verdict != Verdict::valid || !sequential.measured) {
    if (fastest(candidates) == nullptr) return Kept{};
    spdlog::warn("{}: no winner, since there is nothing to compare with: sequential is {}: {}",
                 to_string(sequential.problem), to_string(sequential.verdict), sequential.reason);
    return Kept{};
  }
  Kept kept;
  for (;;) {
    const std::vector<Candidate> best = for_second_run(candidates, sequential);
    auto gemm = gemm_times(machine_, best.front().problem, {best.front().config});
    if (!gemm) return error_of(gemm);
    auto winner = winner_of(best.front(), sequential, *gemm);
    if (!winner) return error_of(winner);
    if (!store_.has_winner(run_.platform, sequential.problem, sequential.launch)) {
      Winner safe = *winner;
      safe.candidate = sequential;
      safe.sequential = sequential.measured->median;
      store_.put_winner(run_.id, safe);
    }
    if (strategy_of(best.front().config) == kBaseline || !run_again) {
      store_.put_winner(run_.id, *winner);
      kept.winner = std::move(*winner);
      return kept;
    }
    if (const auto confirmed = second_run_.confirmed(best, sequential)) {
      const Candidate& chosen = confirmed->candidate;
      if (chosen.config != best.front().config) {
        gemm = gemm_times(machine_, chosen.problem, {chosen.config});
        if (!gemm) return error_of(gemm);
        winner = winner_of(chosen, sequential, *gemm);
        if (!winner) return error_of(winner);
      }
      *winner = with_second_run(std::move(*winner), *confirmed, *gemm);
      store_.put_winner(run_.id, *winner);
      kept.winner = std::move(*winner);
      return kept;
    }
    for (const Candidate& each : best) kept.ruled_out.push_back(each.config);
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return std::ranges::find(best, candidate.config, &Candidate::config) != best.end();
    });
  }
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
