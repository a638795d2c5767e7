#pragma once
// Tallies. A seal tells that a row was changed, but not that it is gone, or that it is of an older
// state. So the database holds how many rows each table of results should have, with a sum over
// them, and every transaction keeps both.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/file/connection.hpp"

namespace overlaptune::db {

struct Tally {
  std::int64_t rows = 0;
  std::int64_t sum = 0;  ///< of 40 bits of the hash of each row
  friend bool operator==(const Tally&, const Tally&) = default;
};

[[nodiscard]] constexpr Tally operator-(const Tally& a, const Tally& b) {
  return {a.rows - b.rows, a.sum - b.sum};
}

inline constexpr std::array<std::string_view, 4> kTalliedTables{"measurements", "candidates",
                                                                "phase_results", "winners"};

/// The tally of the rows that are there.
[[nodiscard]] Tally count_rows(Connection& connection, std::string_view table);
/// The query for the tally of the rows for which a condition holds, and its result.
[[nodiscard]] std::string count_sql(std::string_view table, std::string_view where);
[[nodiscard]] Tally read_tally(Query& query);

/// The tally that is stored. Throws `DamagedRow` where there is none.
[[nodiscard]] Tally stored_tally(Connection& connection, std::string_view table);
void add_to_tally(Connection& connection, std::string_view table, const Tally& difference);

/// Stores the tallies of all rows that are there; for a new database.
void make_tallies(Connection& connection);

/// A line for each table whose rows are not those of its tally.
[[nodiscard]] std::vector<std::string> tally_faults(Connection& connection);

/// Inserts a row and keeps the tally of its table. `count` is the query (`count_sql`) for the rows
/// that have the key of the row. `put_key` binds the key in both statements, `put_values` the other
/// parameters of `insert`.
template <class PutKey, class PutValues>
void insert_counted(Connection& connection, std::string_view table, const std::string& count,
                    const std::string& insert, const PutKey& put_key, const PutValues& put_values) {
  const auto counted = [&] {
    auto query = connection.query(count);
    put_key(query);
    return read_tally(query);
  };
  const Tally before = counted();
  {
    auto query = connection.query(insert);
    put_key(query);
    put_values(query);
    query.run();
  }
  add_to_tally(connection, table, counted() - before);
}

}  // namespace overlaptune::db
