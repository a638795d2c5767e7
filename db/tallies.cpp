#include "db/tallies.hpp"

#include <fmt/format.h>

#include "db/rows.hpp"
#include "db/seal.hpp"

namespace overlaptune::db {
namespace {

/// The hash of a row of the table; in SQL. Results of candidates and winners have it as their seal.
std::string hash_of(std::string_view table) {
  if (table == "phase_results") return seal_of({kPhaseKey, kPhaseColumns});
  if (table != "measurements") return "coalesce(seal, 0)";
  return seal_of({"run_id, probe", kProbeColumns, kMeasuredColumns});
}

}  // namespace

std::string count_sql(std::string_view table, std::string_view where) {
  // 40 bits of each: the sum of 8 million rows fits.
  return fmt::format("SELECT count(*), coalesce(sum({} & 0xffffffffff), 0) FROM {} WHERE {}",
                     hash_of(table), table, where);
}

Tally read_tally(Query& query) {
  if (!query.step()) query.damaged("a tally is missing");
  const std::int64_t rows = query.integer();
  return {rows, query.integer()};
}

Tally count_rows(Connection& connection, std::string_view table) {
  auto query = connection.query(count_sql(table, "true"));
  return read_tally(query);
}

Tally stored_tally(Connection& connection, std::string_view table) {
  auto query = connection.query("SELECT rows, sum FROM tallies WHERE name = ?");
  query.bind(table);
  return read_tally(query);
}

void add_to_tally(Connection& connection, std::string_view table, const Tally& difference) {
  if (difference == Tally{}) return;
  static const std::string update =
      "UPDATE tallies SET rows = rows + ?, sum = sum + ? WHERE name = ?";
  connection.query(update).bind(difference.rows).bind(difference.sum).bind(table).run();
}

void make_tallies(Connection& connection) {
  for (const std::string_view table : kTalliedTables) {
    const Tally tally = count_rows(connection, table);
    connection.query("INSERT INTO tallies (name, rows, sum) VALUES (?, ?, ?)")
        .bind(table)
        .bind(tally.rows)
        .bind(tally.sum)
        .run();
  }
}

std::vector<std::string> tally_faults(Connection& connection) {
  std::vector<std::string> faults;
  for (const std::string_view table : kTalliedTables) {
    const Tally stored = stored_tally(connection, table);
    const Tally found = count_rows(connection, table);
    if (found == stored) continue;
    faults.push_back(
        found.rows == stored.rows
            ? fmt::format("table {}: rows are not those that were stored last", table)
            : fmt::format("table {}: {} rows, {} were stored", table, found.rows, stored.rows));
  }
  return faults;
}

}  // namespace overlaptune::db
