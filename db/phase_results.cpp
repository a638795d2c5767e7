// Results of the phases of second runs.

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {

using db::Conflict;
using db::Query;

void Store::Impl::insert_phase_result(TuningRunId run, const PhaseResult& result,
                                      Conflict conflict) {
  static const db::Insert insert =
      db::insert_sql("phase_results", db::kPhaseKey, db::kPhaseColumns);
  static const std::string count =
      db::count_sql("phase_results", fmt::format("({}) = (?, ?, ?, ?, ?)", db::kPhaseKey));
  refuse_if(db::complaint(result),
            fmt::format("phase {} of '{}' of {}", to_string(result.phase), to_string(result.config),
                        to_string(result.problem)));
  const std::int64_t problem = problem_id(result.problem);
  const auto put_key = [&](Query& query) {
    query.bind(run)
        .bind(problem)
        .bind(result.launch)
        .bind(to_string(result.config))
        .bind(result.phase);
  };
  db::insert_counted(*connection, "phase_results", count, insert[conflict], put_key,
                     [&](Query& query) { db::put_outcome(query, result); });
}

void Store::Impl::each_phase_result(TuningRunId run,
                                    const std::function<void(const PhaseResult&)>& visit) const {
  static const std::string select = db::select_phase_results() + " WHERE run_id = ? ORDER BY r.id";
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
