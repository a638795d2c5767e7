#include "db/rows.hpp"

#include <bit>

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

/// Three columns: a speedup with both ends of its spread, or nothing.
std::optional<PhaseResult::Speedup> read_spread(Query& query) {
  const auto median = query.optional_real();
  const auto low = query.optional_real();
  const auto high = query.optional_real();
  if (median.has_value() != low.has_value() || median.has_value() != high.has_value()) {
    query.damaged("a speedup without its spread");
  }
  if (!median) return std::nullopt;
  return PhaseResult::Speedup{*median, *low, *high};
}

void read_outcome(Query& query, Candidate& candidate) {
  candidate.origin = query.name<Origin>();
  candidate.rank_by_model = query.optional_integer();
  candidate.predicted = us(query.real());
  candidate.reason = query.text();
  candidate.measured = read_summary(query);
  if (const auto speedup = read_spread(query)) {
    candidate.speedup = Candidate::Speedup{speedup->median, speedup->low, speedup->high};
  }
  candidate.conditions = read_conditions(query);
}

/// Problem, launch and config of a candidate or of the result of a phase.
template <class Row>
Row read_what_was_tried(Query& query) {
  Row row;
  row.problem = read_problem(query);
  row.launch = query.name<Launch>();
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

std::string insert_sql(std::string_view table, std::string_view key, std::string_view values,
                       Conflict conflict, const std::optional<SealColumn>& seal,
                       std::string_view joined) {
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
  if (seal) {
    source = fmt::format("(SELECT *, {} AS {} FROM {})", seal->expression, seal->name, source);
    add(columns, std::string(seal->name));
    change(seal->name);
  }
  // SQLite needs the WHERE to tell the ON CONFLICT from that of a join.
  return fmt::format(
      "INSERT INTO {0} ({1}) SELECT {1} FROM {2} WHERE true ON CONFLICT ({3}) DO {4}", table,
      columns, source, key, conflict == Conflict::keep ? "NOTHING" : "UPDATE SET " + changes);
}

SealColumn winner_seal() {
  return {"seal", seal_of({"(SELECT fingerprint FROM platforms f WHERE f.id = platform_id)",
                           kProblemColumns, "launch, config, run_id, validated_at", kOutcomeColumns,
                           kComparisonColumns})};
}

SealColumn candidate_seal() {
  return {
      "seal",
      seal_of({"(SELECT fingerprint FROM platforms f JOIN tuning_runs t ON t.platform_id = "
               "f.id WHERE t.id = run_id)",
               "run_id, problem_id", kProblemColumns, "launch, config, verdict", kOutcomeColumns})};
}

std::string sealed(const SealColumn& seal) {
  return fmt::format("({} IS {})", seal.name, seal.expression);
}

void put(Query& query, const std::optional<Summary>& summary) {
  if (!summary) {
    query.bind_null().bind_null().bind_null().bind_null();
    return;
  }
  query.bind(summary->median.count())
      .bind(summary->p10.count())
      .bind(summary->p90.count())
      .bind(summary->count);
}

std::optional<Summary> read_summary(Query& query) {
  const auto median = query.optional_real();
  const auto p10 = query.optional_real();
  const auto p90 = query.optional_real();
  const auto count = query.optional_integer();
  if (!median) return std::nullopt;
  if (!p10 || !p90 || !count) query.damaged("a time without its spread");
  return Summary{us(*median), us(*p10), us(*p90), *count};
}

void put(Query& query, const Conditions& conditions) {
  query.bind(conditions.sm_clock_mhz).bind(conditions.power_w);
}

Conditions read_conditions(Query& query) {
  Conditions conditions;
  conditions.sm_clock_mhz = query.optional_real();
  conditions.power_w = query.optional_real();
  return conditions;
}

std::string platform_columns() {
  std::vector<std::string_view> names;
  std::apply([&](const auto&... field) { (names.push_back(field.name), ...); }, kPlatformFields);
  return fmt::format("{}", fmt::join(names, ", "));
}

void put(Query& query, const Platform& platform) {
  put_fields(query, kPlatformFields, platform);
}

Platform read_platform(Query& query) {
  return checked(query, read_fields<Platform>(query, kPlatformFields));
}

void put(Query& query, const Provenance& provenance) {
  query.bind(provenance.program_version)
      .bind(provenance.host)
      .bind(provenance.command_line)
      .bind(std::bit_cast<std::int64_t>(provenance.seed))
      .bind(provenance.started_at);
}

Provenance read_provenance(Query& query) {
  Provenance provenance;
  provenance.program_version = query.text();
  provenance.host = query.text();
  provenance.command_line = query.text();
  provenance.seed = std::bit_cast<std::uint64_t>(query.integer());
  provenance.started_at = query.text();
  return provenance;
}

void put(Query& query, const Problem& problem) {
  put_fields(query, kProblemFields, problem);
}

Problem read_problem(Query& query) {
  return checked(query, read_fields<Problem>(query, kProblemFields));
}

LayerGemm read_layer_gemm(Query& query) {
  LayerGemm gemm;
  gemm.problem = read_problem(query);
  gemm.model = query.text();
  gemm.product = query.name<Product>();
  gemm.parallelism = query.name<Parallelism>();
  gemm.tokens = query.integer();
  gemm.times_per_pass = query.integer();
  return checked(query, std::move(gemm));
}

void put(Query& query, const Config& config) {
  query.bind(to_string(config));
}

void put_outcome(Query& query, const Candidate& candidate) {
  query.bind(candidate.origin)
      .bind(candidate.rank_by_model)
      .bind(candidate.predicted.count())
      .bind(candidate.reason);
  put(query, candidate.measured);
  if (candidate.speedup) {
    query.bind(candidate.speedup->median).bind(candidate.speedup->p10).bind(candidate.speedup->p90);
  } else {
    query.bind_null().bind_null().bind_null();
  }
  put(query, candidate.conditions);
}

void put_outcome(Query& query, const PhaseResult& result) {
  query.bind(result.verdict).bind(result.reason);
  put(query, result.measured);
  query.bind(result.sequential ? std::optional(result.sequential->count()) : std::nullopt);
  if (result.speedup) {
    query.bind(result.speedup->median).bind(result.speedup->low).bind(result.speedup->high);
  } else {
    query.bind_null().bind_null().bind_null();
  }
  put(query, result.conditions);
}

PhaseResult read_phase_result(Query& query) {
  auto result = read_what_was_tried<PhaseResult>(query);
  result.phase = query.name<RunPhase>();
  result.verdict = query.name<Verdict>();
  result.reason = query.text();
  result.measured = read_summary(query);
  if (const auto sequential = query.optional_real()) result.sequential = us(*sequential);
  if (const auto speedup = read_spread(query)) {
    result.speedup = PhaseResult::Speedup{speedup->median, speedup->low, speedup->high};
  }
  result.conditions = read_conditions(query);
  if (const auto wrong = complaint(result)) damaged(query, result, *wrong);
  return result;
}

void put_comparison(Query& query, const Winner& winner) {
  query.bind(winner.sequential.count())
      .bind(winner.gemm_alone.count())
      .bind(winner.collective_alone.count())
      .bind(winner.overlap_fraction);
}

Candidate read_candidate(Query& query) {
  auto candidate = read_what_was_tried<Candidate>(query);
  candidate.verdict = query.name<Verdict>();
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
  winner.sequential = us(query.real());
  winner.gemm_alone = us(query.real());
  winner.collective_alone = us(query.real());
  winner.overlap_fraction = query.optional_real();
  if (const auto wrong = complaint(winner)) damaged(query, winner.candidate, *wrong);
  read_sealed(query, winner.candidate);
  return winner;
}

}  // namespace overlaptune::db
