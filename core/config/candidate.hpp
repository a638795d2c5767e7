#pragma once
// The results of tuning: candidates with their verdicts, and winners.

#include <optional>
#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/measurement.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The outcome of a candidate. Only `valid` may win.
enum class Verdict {
  valid,
  wrong,        ///< the result differs from the reference by more than is allowed
  timeout,      ///< it did not end within its limit
  crashed,      ///< its worker died
  rank_died,    ///< another rank was lost while it ran
  unsupported,  ///< this machine cannot run it
};

/// Why a candidate was measured.
enum class Origin {
  baseline,   ///< `sequential`, measured for every problem
  shortlist,  ///< the model put it among the best
  explore,    ///< drawn at random without asking the model
};

template <>
struct NamesOf<Verdict> {
  static constexpr std::string_view what = "verdict";
  static constexpr std::array<Named<Verdict>, 6> all{{{Verdict::valid, "valid"},
                                                      {Verdict::wrong, "wrong"},
                                                      {Verdict::timeout, "timeout"},
                                                      {Verdict::crashed, "crashed"},
                                                      {Verdict::rank_died, "rank_died"},
                                                      {Verdict::unsupported, "unsupported"}}};
};

template <>
struct NamesOf<Origin> {
  static constexpr std::string_view what = "origin";
  static constexpr std::array<Named<Origin>, 3> all{{{Origin::baseline, "baseline"},
                                                     {Origin::shortlist, "shortlist"},
                                                     {Origin::explore, "explore"}}};
};

/// A config of a problem, predicted and (if its verdict is `valid`) timed.
struct Candidate {
  Problem problem{};
  Launch launch = Launch::graph;
  Config config{};
  Origin origin = Origin::shortlist;
  /// Position in the model's own order among the candidates of this problem, from 0; absent for
  /// `explore` candidates.
  std::optional<int> rank_by_model{};
  Microseconds predicted{};
  Verdict verdict = Verdict::valid;
  std::string reason{};  ///< why it is not valid; empty for `valid`
  /// Slowest rank of each repetition, summarized; absent unless something was timed.
  std::optional<Summary> measured{};
  /// `sequential` over this candidate, paired repetition by repetition (unit: a ratio).
  struct Speedup {
    double median = 1;
    double p10 = 1;
    double p90 = 1;
    friend bool operator==(const Speedup&, const Speedup&) = default;
  };
  std::optional<Speedup> speedup{};
  Conditions conditions{};
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The time by which measured candidates of one problem are compared. Where the candidate has a
/// speedup, it is `sequential` divided by this speedup: a GPU's clock differs from run to run, the
/// ratio to `sequential` within one run differs much less.
[[nodiscard]] Microseconds paired_time(const Candidate& candidate, Microseconds sequential);

/// The fastest valid candidate of a problem by `paired_time`; null where none is valid.
[[nodiscard]] const Candidate* fastest(const std::vector<Candidate>& candidates);

/// The best valid candidate of a problem, with the times that it is compared with.
struct Winner {
  Candidate candidate{};
  Microseconds sequential{};        ///< median of `sequential` in the same run
  Microseconds gemm_alone{};        ///< fastest known plain GEMM; 0 where none is known
  Microseconds collective_alone{};  ///< fastest known collective, whole or in pieces; 0 likewise
  /// The overlap fraction of one traced repetition (`core/busy.hpp`): the time in which a GEMM and
  /// a collective both ran, over the busy time of the shorter of the two, 0 to 1. Absent for
  /// `sequential`, which is not traced, and where the machine cannot trace.
  std::optional<double> overlap_fraction{};
  friend bool operator==(const Winner&, const Winner&) = default;
};

/// (sequential - time) / (sequential - ideal) with ideal = max(GEMM alone, collective alone),
/// at most 1. Absent where the denominator is under 3 % of `sequential`, and where one of the two
/// is not known.
[[nodiscard]] std::optional<double> hidden_fraction(const Winner& winner);

}  // namespace overlaptune
