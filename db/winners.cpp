// Winners: writing and reading them.

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {

using db::Conflict;
using db::Query;

namespace {

const std::string& select_winners() {
  static const std::string sql = fmt::format(
      "SELECT platform_id, run_id, validated_at, {}, launch, config, {}, {}, {} FROM winners",
      db::kProblemColumns, db::kOutcomeColumns, db::kComparisonColumns,
      db::sealed(db::winner_seal()));
  return sql;
}

constexpr const char* kIsKey =
    "(platform_id, op, m, n, k, dtype, ranks, launch) = (?, ?, ?, ?, ?, ?, ?, ?)";

void put_key(Query& query, PlatformId platform, const Problem& problem, Launch launch) {
  query.bind(platform);
  db::put(query, problem);
  query.bind(launch);
}

StoredWinner read_winner_row(Query& query) {
  StoredWinner stored;
  stored.platform = query.integer();
  stored.run = query.integer();
  stored.validated_at = query.text();
  if (const auto wrong = db::time_complaint("validated_at", stored.validated_at)) {
    query.damaged(*wrong);
  }
  stored.winner = db::read_winner(query);
  return stored;
}

/// The key of a row that is damaged elsewhere; none where the key is not legible either.
std::optional<DamagedWinner> legible_key(Query& query, const DamagedRow& row) {
  try {
    query.start_again();
    query.skip(3);
    DamagedWinner damaged{.problem = db::read_problem(query)};
    query.read(damaged.launch);
    damaged.fault = row.fault();
    return damaged;
  } catch (const DamagedRow&) {
    return std::nullopt;
  }
}

}  // namespace

bool wins_over(const StoredWinner& one, const StoredWinner& other) {
  const auto order = [](const StoredWinner& stored) {
    const bool ahead = db::ahead_complaint("validated_at", stored.validated_at).has_value();
    return std::pair(!ahead, std::string_view(stored.validated_at));
  };
  if (order(one) != order(other)) return order(one) > order(other);
  const auto rest = [](const StoredWinner& stored) {
    const Candidate& candidate = stored.winner.candidate;
    return std::pair(candidate.measured->median, to_string(candidate.config));
  };
  return rest(one) < rest(other);
}

void Store::Impl::insert_winner(const StoredWinner& stored, Conflict conflict) {
  static const db::Insert insert = db::insert_sql(
      "winners", db::join({"platform_id", db::kProblemColumns, "launch"}),
      db::join({"run_id, validated_at, config", db::kOutcomeColumns, db::kComparisonColumns}),
      db::winner_seal());
  static const std::string count = db::count_sql("winners", kIsKey);
  const Winner& winner = stored.winner;
  const Candidate& candidate = winner.candidate;
  auto wrong = db::complaint(winner);
  if (!wrong) wrong = db::time_complaint("validated_at", stored.validated_at);
  refuse_if(wrong, fmt::format("winner '{}' of {}", to_string(candidate.config),
                               to_string(candidate.problem)));
  if (conflict == Conflict::keep && keeps_against(stored)) return;
  if (!has_candidate_like(stored.run, candidate)) {
    insert_candidate(stored.run, candidate, Conflict::replace);
  }
  const auto put_this_key = [&](Query& query) {
    put_key(query, stored.platform, candidate.problem, candidate.launch);
  };
  db::insert_counted(
      *connection, "winners", count, insert.replace, put_this_key, [&](Query& query) {
        query.bind(stored.run).bind(stored.validated_at).bind(to_string(candidate.config));
        db::put_outcome(query, candidate);
        query.bind(winner.sequential)
            .bind(winner.gemm_alone)
            .bind(winner.collective_alone)
            .bind(winner.overlap_fraction);
      });
}

bool Store::Impl::keeps_against(const StoredWinner& other) const {
  static const std::string select = select_winners() + " WHERE " + kIsKey;
  auto query = connection->query(select);
  put_key(query, other.platform, other.winner.candidate.problem, other.winner.candidate.launch);
  try {
    return query.step() && !wins_over(other, read_winner_row(query));
  } catch (const DamagedRow&) {
    return false;
  }
}

void Store::Impl::each_winner(const std::function<void(const StoredWinner&)>& visit) const {
  static const std::string select =
      select_winners() + " ORDER BY platform_id, " + std::string(db::kProblemColumns) + ", launch";
  auto query = connection->query(select);
  for_rows(query, read_winner_row, visit);
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
  static const std::string select = std::string("SELECT 1 FROM winners WHERE ") + kIsKey;
  auto query = impl_->connection->query(select);
  put_key(query, platform, problem, launch);
  return query.step();
}

std::optional<StoredWinner> Store::winner(PlatformId platform, const Problem& problem,
                                          Launch launch) const {
  static const std::string select = select_winners() + " WHERE " + kIsKey;
  auto query = impl_->connection->query(select);
  put_key(query, platform, problem, launch);
  if (!query.step()) return std::nullopt;
  return read_winner_row(query);
}

void Store::each_winner(PlatformId platform, const std::function<void(const StoredWinner&)>& visit,
                        const std::function<void(const DamagedWinner&)>& damaged) const {
  static const std::string select = select_winners() + " WHERE platform_id = ?";
  auto query = impl_->connection->query(select);
  query.bind(platform);
  while (query.step()) {
    std::optional<StoredWinner> stored;
    try {
      stored = read_winner_row(query);
    } catch (const DamagedRow& row) {
      if (!damaged) throw;
      if (const auto key = legible_key(query, row)) damaged(*key);
      continue;
    }
    visit(*stored);
  }
}

std::vector<StoredWinner> Store::winners() const {
  std::vector<StoredWinner> list;
  impl_->each_winner([&](const StoredWinner& stored) { list.push_back(stored); });
  return list;
}

}  // namespace overlaptune
