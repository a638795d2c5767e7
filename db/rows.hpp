#pragma once
// Values as columns: the columns of each value in their order, how to put it into a statement and
// how to read it.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "db/file/connection.hpp"
#include "db/rules.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

/// The names of `kPlatformFields`.
[[nodiscard]] std::string platform_columns();
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

/// The column for a seal, and the expression in SQL that gives it.
struct SealColumn {
  std::string_view name;
  std::string expression;
};

/// `seal_of(…)` in SQL, for a row of `winners` alone.
[[nodiscard]] SealColumn winner_seal();
/// `seal_of(…)` in SQL, for a row of `candidates` joined with its row of `problems`.
[[nodiscard]] SealColumn candidate_seal();
/// 1 where the seal of a row agrees with its values, otherwise 0; in SQL.
[[nodiscard]] std::string sealed(const SealColumn& seal);

/// Several column lists as one.
[[nodiscard]] std::string join(std::initializer_list<std::string_view> lists);

/// The treatment of a row whose key exists: it is left as it is (`keep`) or overwritten
/// (`replace`).
enum class Conflict { keep, replace };

/// `INSERT INTO table (key, values) … ON CONFLICT (key) …`, with parameters for key and values.
/// The expression of a seal may use all columns of the row, and the columns that `join` brings.
[[nodiscard]] std::string insert_sql(std::string_view table, std::string_view key,
                                     std::string_view values, Conflict conflict,
                                     const std::optional<SealColumn>& seal = {},
                                     std::string_view join = "");

// Fields as columns, in the order of their list.
template <class... Fields, class T>
void put_fields(Query& query, const std::tuple<Fields...>& fields, const T& value) {
  each_field(fields, value, [&](std::string_view, const auto& member) { query.bind(member); });
}
template <class T, class... Fields>
[[nodiscard]] T read_fields(Query& query, const std::tuple<Fields...>& fields) {
  T value{};
  each_field(fields, value, [&](std::string_view, auto& member) { query.read(member); });
  return value;
}

void put(Query& query, const Platform& platform);
void put(Query& query, const Provenance& provenance);
void put(Query& query, const Problem& problem);
void put(Query& query, const Config& config);
void put_outcome(Query& query, const Candidate& candidate);
/// The columns of `kPhaseColumns`.
void put_outcome(Query& query, const PhaseResult& result);
void put_comparison(Query& query, const Winner& winner);
void put(Query& query, const std::optional<Summary>& summary);
void put(Query& query, const Conditions& conditions);
void put(Query& query, const Probe& probe);
void put_measured(Query& query, const Measurement& measurement);

// Readers throw `bad_database` for a row that breaks a rule of db/rules.hpp.
[[nodiscard]] Platform read_platform(Query& query);
[[nodiscard]] Provenance read_provenance(Query& query);
[[nodiscard]] Problem read_problem(Query& query);
/// Columns: problem, key, times_per_pass.
[[nodiscard]] LayerGemm read_layer_gemm(Query& query);
/// Columns: problem, launch, config, phase, `kPhaseColumns`.
[[nodiscard]] PhaseResult read_phase_result(Query& query);
/// Columns: problem, launch, config, verdict, outcome, sealed.
[[nodiscard]] Candidate read_candidate(Query& query);
/// Columns: problem, launch, config, outcome, comparison, sealed. The verdict is `valid`, as of
/// every winner.
[[nodiscard]] Winner read_winner(Query& query);
[[nodiscard]] std::optional<Summary> read_summary(Query& query);
[[nodiscard]] Conditions read_conditions(Query& query);
/// Columns: probe, measured.
[[nodiscard]] Measurement read_measurement(Query& query);

}  // namespace overlaptune::db
