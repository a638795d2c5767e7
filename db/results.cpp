// Measurements and candidates.

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {

using db::Conflict;
using db::Query;

namespace {

const std::string& select_candidates() {
  static const std::string sql = fmt::format(
      "SELECT platform_id, run_id, {}, launch, config, verdict, {}, {} FROM candidates c JOIN "
      "problems p ON p.id = problem_id JOIN tuning_runs r ON r.id = run_id",
      db::kProblemColumns, db::kOutcomeColumns, db::sealed(db::candidate_seal()));
  return sql;
}

StoredCandidate read_candidate_row(Query& query) {
  StoredCandidate stored;
  stored.platform = query.integer();
  stored.run = query.integer();
  stored.candidate = db::read_candidate(query);
  return stored;
}

}  // namespace

void Store::Impl::refuse_if(const db::Complaint& wrong, std::string_view what) const {
  if (!wrong) return;
  throw Failure(ErrorKind::bad_input,
                db::about(connection->file(), fmt::format("{}: {}", what, *wrong)));
}

void Store::Impl::insert_measurement(ProbeRunId run, const Measurement& measurement,
                                     Conflict conflict) {
  static const db::Insert insert = db::insert_sql(
      "measurements", "run_id, probe", db::join({db::kProbeColumns, db::kMeasuredColumns}));
  static const std::string count = db::count_sql("measurements", "(run_id, probe) = (?, ?)");
  const std::string probe = to_string(measurement.probe);
  refuse_if(db::complaint(measurement), fmt::format("measurement of '{}'", probe));
  const auto put_key = [&](Query& query) { query.bind(run).bind(probe); };
  db::insert_counted(*connection, "measurements", count, insert[conflict], put_key,
                     [&](Query& query) {
                       db::put(query, measurement.probe);
                       db::put_measured(query, measurement);
                     });
}

std::int64_t Store::Impl::problem_id(const Problem& problem) {
  static const std::string select =
      fmt::format("SELECT id FROM problems WHERE ({}) = (?, ?, ?, ?, ?, ?)", db::kProblemColumns);
  static const std::string insert =
      fmt::format("INSERT INTO problems ({}) VALUES (?, ?, ?, ?, ?, ?)", db::kProblemColumns);
  {
    auto query = connection->query(select);
    db::put(query, problem);
    if (query.step()) return query.integer();
  }
  auto query = connection->query(insert);
  db::put(query, problem);
  query.run();
  return connection->last_id();
}

void Store::Impl::insert_candidate(TuningRunId run, const Candidate& candidate, Conflict conflict) {
  static const db::Insert insert =
      db::insert_sql("candidates", "run_id, problem_id, launch, config",
                     db::join({"verdict", db::kOutcomeColumns}), db::candidate_seal(),
                     "JOIN problems p ON p.id = problem_id");
  static const std::string count =
      db::count_sql("candidates", "(run_id, problem_id, launch, config) = (?, ?, ?, ?)");
  const std::string config = to_string(candidate.config);
  refuse_if(db::complaint(candidate),
            fmt::format("candidate '{}' of {}", config, to_string(candidate.problem)));
  const std::int64_t problem = problem_id(candidate.problem);
  const auto put_key = [&](Query& query) {
    query.bind(run).bind(problem).bind(candidate.launch).bind(config);
  };
  db::insert_counted(*connection, "candidates", count, insert[conflict], put_key,
                     [&](Query& query) {
                       query.bind(candidate.verdict);
                       db::put_outcome(query, candidate);
                     });
}

bool Store::Impl::has_candidate_like(TuningRunId run, const Candidate& candidate) const {
  static const std::string select = fmt::format(
      "SELECT 1 FROM candidates c JOIN problems p ON p.id = problem_id WHERE run_id = ? AND ({}) = "
      "(?, ?, ?, ?, ?, ?) AND (launch, config, verdict, origin, predicted_us, reason) = (?, ?, ?, "
      "?, ?, ?) AND rank_by_model IS ?",
      db::kProblemColumns);
  auto query = connection->query(select);
  query.bind(run);
  db::put(query, candidate.problem);
  query.bind(candidate.launch)
      .bind(to_string(candidate.config))
      .bind(candidate.verdict)
      .bind(candidate.origin)
      .bind(candidate.predicted)
      .bind(candidate.reason)
      .bind(candidate.rank_by_model);
  return query.step();
}

bool Store::Impl::step(Query& query) const {
  try {
    return query.step();
  } catch (const Failure& failure) {
    if (!leave_out || failure.kind() != ErrorKind::bad_database) throw;
    leave_out(DamagedRow(connection->file(), failure.what()));
    return false;
  }
}

void Store::Impl::each_measurement(ProbeRunId run,
                                   const std::function<void(const Measurement&)>& visit) const {
  static const std::string select =
      fmt::format("SELECT {} FROM measurements WHERE run_id = ? ORDER BY id",
                  db::join({db::kProbeColumns, db::kMeasuredColumns}));
  auto query = connection->query(select);
  query.bind(run);
  for_rows(query, db::read_measurement, visit);
}

void Store::Impl::each_candidate(const std::function<void(const StoredCandidate&)>& visit) const {
  static const std::string select = select_candidates() + " ORDER BY c.id";
  auto query = connection->query(select);
  for_rows(query, read_candidate_row, visit);
}

void Store::Impl::each_candidate_of(
    TuningRunId run, const std::function<void(const StoredCandidate&)>& visit) const {
  static const std::string select = select_candidates() + " WHERE run_id = ? ORDER BY c.id";
  auto query = connection->query(select);
  query.bind(run);
  for_rows(query, read_candidate_row, visit);
}

void Store::add_measurement(ProbeRunId run, const Measurement& measurement) {
  impl_->connection->write([&] { impl_->insert_measurement(run, measurement, Conflict::replace); });
}

std::vector<Measurement> Store::measurements(PlatformId platform) const {
  // Whole rows would be copied for the window, so it has their numbers alone.
  static const std::string select = fmt::format(
      "SELECT {} FROM measurements WHERE id IN (SELECT id FROM (SELECT m.id AS id, row_number() "
      "OVER (PARTITION BY probe ORDER BY provenance_id DESC) AS age FROM measurements m JOIN "
      "probe_runs r ON r.id = run_id WHERE platform_id = ?) WHERE age = 1) ORDER BY id",
      db::join({db::kProbeColumns, db::kMeasuredColumns}));
  std::vector<Measurement> list;
  auto query = impl_->connection->query(select);
  query.bind(platform);
  while (query.step()) list.push_back(db::read_measurement(query));
  return list;
}

void Store::add_candidate(TuningRunId run, const Candidate& candidate) {
  impl_->connection->write([&] { impl_->insert_candidate(run, candidate, Conflict::replace); });
}

std::vector<Candidate> Store::candidates(TuningRunId run, const Problem& problem,
                                         Launch launch) const {
  static const std::string select =
      select_candidates() +
      fmt::format(" WHERE run_id = ? AND ({}) = (?, ?, ?, ?, ?, ?) AND launch = ? ORDER BY c.id",
                  db::kProblemColumns);
  std::vector<Candidate> list;
  auto query = impl_->connection->query(select);
  query.bind(run);
  db::put(query, problem);
  query.bind(launch);
  while (query.step()) list.push_back(read_candidate_row(query).candidate);
  return list;
}

std::vector<Candidate> Store::valid_candidates(PlatformId platform,
                                               std::optional<TuningRunId> left_out) const {
  static const std::string select =
      select_candidates() +
      " WHERE platform_id = ? AND verdict = ? AND run_id IS NOT ? ORDER BY c.id";
  std::vector<Candidate> list;
  auto query = impl_->connection->query(select);
  query.bind(platform).bind(Verdict::valid).bind(left_out);
  while (query.step()) {
    try {
      list.push_back(read_candidate_row(query).candidate);
    } catch (const DamagedRow&) {
      // The others still teach.
    }
  }
  return list;
}

std::vector<StoredCandidate> Store::all_candidates() const {
  std::vector<StoredCandidate> list;
  impl_->each_candidate([&](const StoredCandidate& stored) { list.push_back(stored); });
  return list;
}

}  // namespace overlaptune
