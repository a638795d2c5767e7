#include "db/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/seal.hpp"

namespace overlaptune::db {
namespace {

template <class F>
void for_each_column(std::string_view columns, F&& visit) {
  constexpr std::string_view kComma = ", ";
  while (!columns.empty()) {
    const auto end = columns.find(kComma);
    visit(columns.substr(0, end));
    columns = end == columns.npos ? std::string_view{} : columns.substr(end + kComma.size());
  }
}

template <class Row>
[[noreturn]] void damaged(const Query& query, const Row& row, std::string_view what) {
  query.damaged(
      fmt::format("{}, in the row of {}, {}", what, to_string(row.problem), to_string(row.launch)));
}

constexpr std::string_view kNoSpread = "a speedup without its spread";

void read_outcome(Query& query, Candidate& candidate) {
  query.read(candidate.origin, candidate.rank_by_model, candidate.predicted, candidate.reason);
  candidate.measured = read_summary(query);
  candidate.speedup = read_optional<Candidate::Speedup>(query, kSpeedupFields, kNoSpread);
  candidate.conditions = read_fields<Conditions>(query, kConditionsFields);
}

/// Problem, launch and config of a candidate or of the result of a phase.
template <class Row>
Row read_what_was_tried(Query& query) {
  Row row;
  row.problem = read_problem(query);
  query.read(row.launch);
  const std::string line = query.text();
  if (!read_canonical(line, row.config)) damaged(query, row, why_not_canonical(line));
  return row;
}

/// The column `sealed`. Its fault is told last, because another one says more.
void read_sealed(Query& query, const Candidate& row) {
  if (query.integer() == 0) damaged(query, row, "the seal is not that of its values");
}

template <class T>
T checked(const Query& query, T value) {
  if (const auto wrong = complaint(value)) query.damaged(*wrong);
  return value;
}

}  // namespace

std::string join(std::initializer_list<std::string_view> lists) {
  return fmt::format("{}", fmt::join(lists, ", "));
}

Insert insert_sql(std::string_view table, std::string_view key, std::string_view values,
                  std::string_view seal, std::string_view joined) {
  std::string row;
  std::string columns;
  std::string changes;
  const auto add = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const std::string_view list : {key, values}) {
    for_each_column(list, [&](std::string_view column) {
      add(row, fmt::format("? AS {}", column));
      add(columns, std::string(column));
    });
  }
  const auto change = [&](std::string_view column) {
    add(changes, fmt::format("{0} = excluded.{0}", column));
  };
  for_each_column(values, change);
  std::string source = fmt::format("(SELECT {}) {}", row, joined);
  if (!seal.empty()) {
    source = fmt::format("(SELECT *, {} AS seal FROM {})", seal, source);
    add(columns, "seal");
    change("seal");
  }
  // SQLite needs the WHERE to tell the ON CONFLICT from that of a join.
  const std::string insert =
      fmt::format("INSERT INTO {0} ({1}) SELECT {1} FROM {2} WHERE true ON CONFLICT ({3}) DO ",
                  table, columns, source, key);
  return {.keep = insert + "NOTHING", .replace = insert + "UPDATE SET " + changes};
}

std::string winner_seal() {
  return seal_of({"(SELECT fingerprint FROM platforms f WHERE f.id = platform_id)", kProblemColumns,
                  "launch, config, run_id, validated_at", kOutcomeColumns, kComparisonColumns});
}

std::string candidate_seal() {
  return seal_of(
      {"(SELECT fingerprint FROM platforms f JOIN tuning_runs t ON t.platform_id = f.id "
       "WHERE t.id = run_id)",
       "run_id, problem_id", kProblemColumns, "launch, config, verdict", kOutcomeColumns});
}

std::string sealed(std::string_view seal) {
  return fmt::format("(seal IS {})", seal);
}

std::optional<Summary> read_summary(Query& query) {
  return read_optional<Summary>(query, kSummaryFields, "a time without its spread");
}

std::string platform_columns() {
  std::vector<std::string_view> names;
  std::apply([&](const auto&... field) { (names.push_back(field.name), ...); }, kPlatformFields);
  return fmt::format("{}", fmt::join(names, ", "));
}

Platform read_platform(Query& query) {
  return checked(query, read_fields<Platform>(query, kPlatformFields));
}

void put(Query& query, const Problem& problem) {
  put_fields(query, kProblemFields, problem);
}

Problem read_problem(Query& query) {
  return checked(query, read_fields<Problem>(query, kProblemFields));
}

std::string select_layer_gemms() {
  return fmt::format(
      "SELECT {}, {}, times_per_pass FROM layer_gemms g JOIN problems p ON p.id = problem_id",
      kProblemColumns, kLayerGemmKey);
}

LayerGemm read_layer_gemm(Query& query) {
  LayerGemm gemm;
  gemm.problem = read_problem(query);
  query.read(gemm.model, gemm.product, gemm.parallelism, gemm.tokens, gemm.times_per_pass);
  return checked(query, std::move(gemm));
}

void put_outcome(Query& query, const Candidate& candidate) {
  query.bind(candidate.origin)
      .bind(candidate.rank_by_model)
      .bind(candidate.predicted)
      .bind(candidate.reason);
  put_fields(query, kSummaryFields, candidate.measured);
  put_fields(query, kSpeedupFields, candidate.speedup);
  put_fields(query, kConditionsFields, candidate.conditions);
}

void put_outcome(Query& query, const PhaseResult& result) {
  query.bind(result.verdict).bind(result.reason);
  put_fields(query, kSummaryFields, result.measured);
  query.bind(result.sequential);
  put_fields(query, kSpeedupInPhaseFields, result.speedup);
  put_fields(query, kConditionsFields, result.conditions);
}

std::string select_phase_results() {
  return fmt::format(
      "SELECT {}, launch, config, phase, {} FROM phase_results r JOIN problems p ON p.id = "
      "problem_id",
      kProblemColumns, kPhaseColumns);
}

PhaseResult read_phase_result(Query& query) {
  auto result = read_what_was_tried<PhaseResult>(query);
  query.read(result.phase, result.verdict, result.reason);
  result.measured = read_summary(query);
  query.read(result.sequential);
  result.speedup = read_optional<PhaseResult::Speedup>(query, kSpeedupInPhaseFields, kNoSpread);
  result.conditions = read_fields<Conditions>(query, kConditionsFields);
  if (const auto wrong = complaint(result)) damaged(query, result, *wrong);
  return result;
}

Candidate read_candidate(Query& query) {
  auto candidate = read_what_was_tried<Candidate>(query);
  query.read(candidate.verdict);
  read_outcome(query, candidate);
  if (const auto wrong = complaint(candidate)) damaged(query, candidate, *wrong);
  read_sealed(query, candidate);
  return candidate;
}

Winner read_winner(Query& query) {
  Winner winner;
  winner.candidate = read_what_was_tried<Candidate>(query);
  winner.candidate.verdict = Verdict::valid;
  read_outcome(query, winner.candidate);
  query.read(winner.sequential, winner.gemm_alone, winner.collective_alone,
             winner.overlap_fraction);
  if (const auto wrong = complaint(winner)) damaged(query, winner.candidate, *wrong);
  read_sealed(query, winner.candidate);
  return winner;
}

}  // namespace overlaptune::db
