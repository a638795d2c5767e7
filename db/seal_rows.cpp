#include "db/seal_rows.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "db/rows.hpp"

namespace overlaptune::db {
namespace {

/// Whether the run of winner `w` has a candidate like it (`has_candidate_like`); in SQL.
constexpr std::string_view kHasCandidate =
    "EXISTS (SELECT 1 FROM candidates c JOIN problems p ON p.id = problem_id WHERE "
    "c.run_id = w.run_id AND (p.op, p.m, p.n, p.k, p.dtype, p.ranks) = (w.op, w.m, w.n, w.k, "
    "w.dtype, w.ranks) AND c.launch = w.launch AND c.config = w.config AND c.verdict = 'valid' AND "
    "c.origin = w.origin AND c.rank_by_model IS w.rank_by_model AND c.predicted_us = "
    "w.predicted_us AND c.reason = w.reason)";

void seal_candidates(Connection& connection) {
  const SealColumn seal = candidate_seal();
  connection.execute(
      fmt::format("UPDATE candidates SET {} = {} FROM problems p WHERE p.id = problem_id",
                  seal.name, seal.expression));
}

void seal_winners(Connection& connection) {
  for (const SealColumn& seal : winner_seals()) {
    connection.execute(fmt::format("UPDATE winners AS w SET {} = {} WHERE {}", seal.name,
                                   seal.expression, kHasCandidate));
  }
}

/// Takes the seal from each row that breaks a rule. `select` gives the value of `key` for each row
/// with a seal, and then the columns for `read`.
template <class Read>
void unseal(Connection& connection, std::string_view table, std::string_view key,
            const std::string& select, const Read& read) {
  std::vector<std::int64_t> unsound;
  {
    auto query = connection.query(select);
    while (query.step()) {
      const std::int64_t row = query.integer();
      try {
        (void)read(query);
      } catch (const DamagedRow&) {
        unsound.push_back(row);
      }
    }
  }
  const std::string update = fmt::format("UPDATE {} SET seal = NULL WHERE {} = ?", table, key);
  for (const std::int64_t row : unsound) connection.query(update).bind(row).run();
}

}  // namespace

void seal_rows(Connection& connection) {
  seal_candidates(connection);
  unseal(connection, "candidates", "id",
         fmt::format("SELECT c.id, {}, launch, config, verdict, {}, 1 FROM candidates c JOIN "
                     "problems p ON p.id = problem_id",
                     kProblemColumns, kOutcomeColumns),
         read_candidate);
  seal_winners(connection);
  // A winner has no id, but no other one has its first seal.
  unseal(connection, "winners", "answer_seal",
         fmt::format("SELECT answer_seal, {}, launch, config, {}, {}, 1 FROM winners WHERE "
                     "answer_seal IS NOT NULL",
                     kProblemColumns, kOutcomeColumns, kComparisonColumns),
         read_winner);
  connection.execute("UPDATE winners SET answer_seal = NULL WHERE seal IS NULL");
}

}  // namespace overlaptune::db
