// Results of the phases of second runs.

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {

using db::Conflict;
using db::Query;

void Store::Impl::insert_phase_result(TuningRunId run, const PhaseResult& result,
                                      Conflict conflict) {
  const auto sql = [](Conflict way) {
    return db::insert_sql("phase_results", db::kPhaseKey, db::kPhaseColumns, way);
  };
  static const std::string keep = sql(Conflict::keep);
  static const std::string replace = sql(Conflict::replace);
  if (const auto wrong = db::complaint(result)) {
    throw Failure(
        ErrorKind::bad_input,
        db::about(connection->file(),
                  fmt::format("phase {} of '{}' of {}: {}", to_string(result.phase),
                              to_string(result.config), to_string(result.problem), *wrong)));
  }
  static const std::string count =
      db::count_sql("phase_results", fmt::format("({}) = (?, ?, ?, ?, ?)", db::kPhaseKey));
  const std::int64_t problem = problem_id(result.problem);
  const auto put_key = [&](Query& query) {
    query.bind(run).bind(problem).bind(result.launch);
    db::put(query, result.config);
    query.bind(result.phase);
  };
  const auto counted = [&] {
    auto query = connection->query(count);
    put_key(query);
    return db::read_tally(query);
  };
  db::keep_tally(*connection, "phase_results", counted, [&] {
    auto query = connection->query(conflict == Conflict::keep ? keep : replace);
    put_key(query);
    db::put_outcome(query, result);
    query.run();
  });
}

void Store::Impl::each_phase_result(TuningRunId run,
                                    const std::function<void(const PhaseResult&)>& visit) const {
  static const std::string select = fmt::format(
      "SELECT {}, launch, config, phase, {} FROM phase_results r JOIN problems p ON p.id = "
      "problem_id WHERE run_id = ? ORDER BY r.id",
      db::kProblemColumns, db::kPhaseColumns);
  auto query = connection->query(select);
  query.bind(run);
  for_rows(query, db::read_phase_result, visit);
}

void Store::add_phase_results(TuningRunId run, std::span<const PhaseResult> results) {
  impl_->connection->write([&] {
    for (const PhaseResult& result : results) {
      impl_->insert_phase_result(run, result, Conflict::replace);
    }
  });
}

std::vector<StoredPhaseResult> Store::all_phase_results() const {
  std::vector<StoredPhaseResult> list;
  impl_->each_run(RunKind::tuning, [&](const StoredRun& run) {
    impl_->each_phase_result(run.id, [&](const PhaseResult& result) {
      list.push_back({run.platform, run.id, result});
    });
  });
  return list;
}

std::vector<PhaseResult> Store::phase_results(TuningRunId run) const {
  std::vector<PhaseResult> list;
  impl_->each_phase_result(run, [&](const PhaseResult& result) { list.push_back(result); });
  return list;
}

}  // namespace overlaptune
