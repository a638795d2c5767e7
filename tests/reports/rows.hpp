#pragma once
// Rows of a database, made by hand.

#include <optional>
#include <utility>

#include "core/config/config_fields.hpp"
#include "reports/snapshot.hpp"

namespace overlaptune::rows {

inline const Problem kProblem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};

inline Platform platform(const char* driver = "570.1") {
  return {.machine = "sim", .name = "eight", .gpu_count = 8, .sms = 132, .driver_version = driver};
}

/// p10 and p90 lie `half_spread` below and above the median.
inline Summary times(double median, double half_spread = 1) {
  return {us(median), us(median - half_spread), us(median + half_spread), 9};
}

struct Made {
  Strategy strategy = strategy_of<Signaled>();
  int comm_ctas = 16;  ///< tells configs apart
  double predicted = 100;
  std::optional<double> measured{};  ///< absent: the candidate failed
  Origin origin = Origin::shortlist;
  std::optional<int> rank{};
  TuningRunId run = 1;
  Problem problem = kProblem;
};

/// A config of the strategy. Not every one is legal, which does not matter to a report.
inline Config config(Strategy strategy, int comm_ctas) {
  Config made = default_config(strategy);
  with_field<config_field::CommCtas>(made, [&](auto& ctas) { ctas = comm_ctas; });
  return made;
}

inline StoredCandidate candidate(const Made& made) {
  Candidate row{.problem = made.problem,
                .config = config(made.strategy, made.comm_ctas),
                .origin = made.origin,
                .rank_by_model = made.rank,
                .predicted = us(made.predicted)};
  if (made.measured) {
    row.measured = times(*made.measured);
  } else {
    row.verdict = Verdict::timeout;
    row.reason = "not done after 5 s";
  }
  return {.platform = 1, .run = made.run, .candidate = row};
}

/// A `signaled` winner, with `sequential` at 200 us and the ideal at 100 us.
inline StoredWinner winner(double measured, double half_spread = 1,
                           const Problem& problem = kProblem, PlatformId id = 1) {
  StoredWinner row{.platform = id, .run = 1, .validated_at = "2026-01-01T00:00:00.000Z"};
  row.winner.candidate = {.problem = problem,
                          .config = Signaled{.tile = {128, 256, 64, 4, 2},
                                             .swizzle = 8,
                                             .comm_ctas = 16,
                                             .wave_groups = {928, 96}},
                          .predicted = us(measured),
                          .measured = times(measured, half_spread)};
  row.winner.sequential = us(200);
  row.winner.gemm_alone = us(100);
  row.winner.collective_alone = us(90);
  row.winner.overlap_fraction = 0.625;
  return row;
}

/// The result of a winner in a phase, with `sequential` at 200 us.
inline StoredPhaseResult phase(const StoredWinner& row, RunPhase phase, double measured) {
  const Candidate& candidate = row.winner.candidate;
  const double speedup = 200 / measured;
  return {.platform = row.platform,
          .run = row.run,
          .result = {.problem = candidate.problem,
                     .launch = candidate.launch,
                     .config = candidate.config,
                     .phase = phase,
                     .measured = times(measured),
                     .sequential = us(200),
                     .speedup = PhaseResult::Speedup{speedup, speedup / 2, speedup * 2}}};
}

inline Snapshot snapshot(std::vector<StoredWinner> winners,
                         std::vector<StoredCandidate> candidates = {},
                         const Platform& on = platform()) {
  Snapshot made{.winners = std::move(winners), .candidates = std::move(candidates)};
  made.platforms.push_back({.stored = {.id = 1, .platform = on}});
  return made;
}

}  // namespace overlaptune::rows
