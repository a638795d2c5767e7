// Winners: writing and reading them.

#include <fmt/format.h>

#include "db/impl.hpp"

namespace overlaptune {

using db::Conflict;
using db::Query;

namespace {

const std::string& select_winners() {
  static const std::string sql = fmt::format(
      "SELECT platform_id, run_id, validated_at, {}, launch, config, {}, {} FROM winners",
      db::kProblemColumns, db::kOutcomeColumns, db::kComparisonColumns);
  return sql;
}

std::string where_key() {
  return fmt::format(" WHERE (platform_id, {}, launch) = (?, ?, ?, ?, ?, ?, ?, ?)",
                     db::kProblemColumns);
}

StoredWinner read_winner_row(Query& query) {
  StoredWinner stored;
  stored.platform = query.integer();
  stored.run = query.integer();
  stored.validated_at = query.text();
  stored.winner = db::read_winner(query);
  return stored;
}

}  // namespace

void Store::Impl::insert_winner(const StoredWinner& stored, Conflict conflict) {
  static const std::string replace = db::insert_sql(
      "winners", db::join({"platform_id", db::kProblemColumns, "launch"}),
      db::join({"run_id, validated_at, config", db::kOutcomeColumns, db::kComparisonColumns}),
      Conflict::replace);
  static const std::string keep = replace + " WHERE excluded.validated_at > validated_at";
  const Candidate& candidate = stored.winner.candidate;
  if (const auto wrong = db::complaint(stored.winner)) {
    throw Failure(ErrorKind::bad_input,
                  db::about(connection->file(),
                            fmt::format("winner '{}' of {}: {}", to_string(candidate.config),
                                        to_string(candidate.problem), *wrong)));
  }
  auto query = connection->query(conflict == Conflict::keep ? keep : replace);
  query.bind(stored.platform);
  db::put(query, candidate.problem);
  query.bind(candidate.launch).bind(stored.run).bind(stored.validated_at);
  db::put(query, candidate.config);
  db::put_outcome(query, candidate);
  db::put_comparison(query, stored.winner);
  query.run();
}

void Store::Impl::each_winner(const std::function<void(const StoredWinner&)>& visit) const {
  static const std::string select =
      select_winners() + " ORDER BY platform_id, " + std::string(db::kProblemColumns) + ", launch";
  auto query = connection->query(select);
  while (query.step()) visit(read_winner_row(query));
}

void Store::put_winner(TuningRunId run, const Winner& winner) {
  static const std::string select = "SELECT platform_id FROM tuning_runs WHERE id = ?";
  impl_->connection->write([&] {
    PlatformId platform = 0;  // no platform; the insert is refused if there is no such run
    {
      auto query = impl_->connection->query(select);
      query.bind(run);
      if (query.step()) platform = query.integer();
    }
    impl_->insert_winner({platform, run, db::utc_now(), winner}, Conflict::replace);
  });
}

bool Store::has_winner(PlatformId platform, const Problem& problem, Launch launch) const {
  static const std::string select = "SELECT 1 FROM winners" + where_key();
  auto query = impl_->connection->query(select);
  query.bind(platform);
  db::put(query, problem);
  query.bind(launch);
  return query.step();
}

std::optional<StoredWinner> Store::winner(PlatformId platform, const Problem& problem,
                                          Launch launch) const {
  static const std::string select = select_winners() + where_key();
  const db::WinnerKey key{platform, problem, launch};
  const auto stamp = impl_->stamp();
  if (stamp) {
    if (const auto* known = impl_->cache.find(key, *stamp)) return *known;
  }
  std::optional<StoredWinner> found;
  {
    auto query = impl_->connection->query(select);
    query.bind(platform);
    db::put(query, problem);
    query.bind(launch);
    if (query.step()) found = read_winner_row(query);
  }
  if (stamp) impl_->cache.put(key, found);
  return found;
}

std::vector<StoredWinner> Store::winners() const {
  std::vector<StoredWinner> list;
  impl_->each_winner([&](const StoredWinner& stored) { list.push_back(stored); });
  return list;
}

}  // namespace overlaptune
