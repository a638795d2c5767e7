#pragma once
// Values as columns: the columns of each value in their order, how to put it into a statement and
// how to read it.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "db/file/connection.hpp"
#include "db/rules.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

// The fields of values that are columns, in their order. In JSON they have these names.
inline constexpr std::tuple kSummaryFields{
    Field{"median_us", &Summary::median}, Field{"p10_us", &Summary::p10},
    Field{"p90_us", &Summary::p90}, Field{"count", &Summary::count}};
inline constexpr std::tuple kConditionsFields{Field{"sm_clock_mhz", &Conditions::sm_clock_mhz},
                                              Field{"power_w", &Conditions::power_w}};
inline constexpr std::tuple kSpeedupFields{Field{"median", &Candidate::Speedup::median},
                                           Field{"p10", &Candidate::Speedup::p10},
                                           Field{"p90", &Candidate::Speedup::p90}};
inline constexpr std::tuple kSpeedupInPhaseFields{Field{"median", &PhaseResult::Speedup::median},
                                                  Field{"low", &PhaseResult::Speedup::low},
                                                  Field{"high", &PhaseResult::Speedup::high}};
inline constexpr std::tuple kProvenanceFields{
    Field{"program_version", &Provenance::program_version}, Field{"host", &Provenance::host},
    Field{"command_line", &Provenance::command_line}, Field{"seed", &Provenance::seed},
    Field{"started_at", &Provenance::started_at}};

/// The names of `kPlatformFields`.
[[nodiscard]] std::string platform_columns();
/// The names of `kProvenanceFields`.
inline constexpr std::string_view kProvenanceColumns =
    "program_version, host, command_line, seed, started_at";
/// The names of `kProblemFields`.
inline constexpr std::string_view kProblemColumns = "op, m, n, k, dtype, ranks";
/// The columns that identify a product of a model. `times_per_pass` is the only other one.
inline constexpr std::string_view kLayerGemmKey = "model, product, parallelism, tokens";
/// The columns that identify the result of a phase, and all others.
inline constexpr std::string_view kPhaseKey = "run_id, problem_id, launch, config, phase";
inline constexpr std::string_view kPhaseColumns =
    "verdict, reason, measured_median_us, measured_p10_us, measured_p90_us, measured_count, "
    "sequential_us, speedup_median, speedup_low, speedup_high, sm_clock_mhz, power_w";
/// The outcome of a candidate: all of it except problem, launch, config and verdict.
inline constexpr std::string_view kOutcomeColumns =
    "origin, rank_by_model, predicted_us, reason, measured_median_us, measured_p10_us, "
    "measured_p90_us, measured_count, speedup_median, speedup_p10, speedup_p90, sm_clock_mhz, "
    "power_w";
inline constexpr std::string_view kComparisonColumns =
    "sequential_us, gemm_alone_us, collective_alone_us, overlap_fraction";
inline constexpr std::string_view kProbeColumns =
    "kind, m, n, k, dtype, block_m, block_n, block_k, stages, cluster, swizzle, sms, collective, "
    "collective_bytes, ranks, comm_ctas, transport, copy_bytes, copy_ctas, launch_cost, "
    "peer_bytes, peer_from, peer_to, layer_work, layer_amount, layer_ranks";
inline constexpr std::string_view kMeasuredColumns =
    "time_median_us, time_p10_us, time_p90_us, time_count, collective_median_us, "
    "collective_p10_us, collective_p90_us, collective_count, library_block_m, library_block_n, "
    "library_block_k, library_stages, library_cluster, sm_clock_mhz, power_w";

// Seals in SQL, for a column `seal`.

/// `seal_of(…)` in SQL, for a row of `winners` alone.
[[nodiscard]] std::string winner_seal();
/// `seal_of(…)` in SQL, for a row of `candidates` joined with its row of `problems`.
[[nodiscard]] std::string candidate_seal();
/// 1 where the seal of a row agrees with its values, otherwise 0; in SQL.
[[nodiscard]] std::string sealed(std::string_view seal);

/// Several column lists as one.
[[nodiscard]] std::string join(std::initializer_list<std::string_view> lists);

/// The treatment of a row whose key exists: it is left as it is (`keep`) or overwritten
/// (`replace`).
enum class Conflict { keep, replace };

/// A statement for each treatment.
struct Insert {
  std::string keep;
  std::string replace;
  [[nodiscard]] const std::string& operator[](Conflict conflict) const {
    return conflict == Conflict::keep ? keep : replace;
  }
};

/// `INSERT INTO table (key, values) … ON CONFLICT (key) …`, with parameters for key and values.
/// The seal may use all columns of the row, and the columns that `join` brings; empty: none.
[[nodiscard]] Insert insert_sql(std::string_view table, std::string_view key,
                                std::string_view values, std::string_view seal = "",
                                std::string_view join = "");

// Fields as columns, in the order of their list. All are NULL where the value is absent.
template <class... Fields, class T>
void put_fields(Query& query, const std::tuple<Fields...>& fields, const T& value) {
  each_field(fields, value, [&](std::string_view, const auto& member) { query.bind(member); });
}
template <class... Fields, class T>
void put_fields(Query& query, const std::tuple<Fields...>& fields, const std::optional<T>& value) {
  if (value) return put_fields(query, fields, *value);
  for (std::size_t i = 0; i < sizeof...(Fields); ++i) query.bind_null();
}
template <class T, class... Fields>
[[nodiscard]] T read_fields(Query& query, const std::tuple<Fields...>& fields) {
  T value{};
  each_field(fields, value, [&](std::string_view, auto& member) { query.read(member); });
  return value;
}

/// Throws `DamagedRow` with the fault where some of the columns are NULL and others are not.
template <class T, class... Fields>
[[nodiscard]] std::optional<T> read_optional(Query& query, const std::tuple<Fields...>& fields,
                                             std::string_view fault) {
  constexpr int kColumns = sizeof...(Fields);
  const int nulls = query.nulls(kColumns);
  if (nulls == 0) return read_fields<T>(query, fields);
  if (nulls < kColumns) query.damaged(fault);
  query.skip(kColumns);
  return std::nullopt;
}

void put(Query& query, const Problem& problem);
void put_outcome(Query& query, const Candidate& candidate);
/// The columns of `kPhaseColumns`.
void put_outcome(Query& query, const PhaseResult& result);
void put(Query& query, const Probe& probe);
void put_measured(Query& query, const Measurement& measurement);

// Readers throw `bad_database` for a row that breaks a rule of db/rules.hpp.
[[nodiscard]] Platform read_platform(Query& query);
[[nodiscard]] Problem read_problem(Query& query);
/// Columns: problem, key, times_per_pass; as the query has them, which a condition may follow.
[[nodiscard]] LayerGemm read_layer_gemm(Query& query);
[[nodiscard]] std::string select_layer_gemms();
/// Columns: problem, launch, config, phase, `kPhaseColumns`; likewise.
[[nodiscard]] PhaseResult read_phase_result(Query& query);
[[nodiscard]] std::string select_phase_results();
/// Columns: problem, launch, config, verdict, outcome, sealed.
[[nodiscard]] Candidate read_candidate(Query& query);
/// Columns: problem, launch, config, outcome, comparison, sealed. The verdict is `valid`, as of
/// every winner.
[[nodiscard]] Winner read_winner(Query& query);
[[nodiscard]] std::optional<Summary> read_summary(Query& query);
/// Columns: probe, measured.
[[nodiscard]] Measurement read_measurement(Query& query);

}  // namespace overlaptune::db
