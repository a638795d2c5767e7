// Mutations that know SQLite. Bytes changed at random mostly break the page they are in, so half of
// the inputs are changed through SQLite: values, rows, tables and pragmas, with its rules off.
// libFuzzer's own mutations make the other half.

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "scratch_file.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace overlaptune::fuzz {
namespace {

using Random = std::minstd_rand;

template <class List>
const auto& pick(const List& list, Random& random) {
  return list[random() % list.size()];
}

/// The first column of the rows of a query.
std::vector<std::string> column(sqlite3* database, const std::string& sql) {
  std::vector<std::string> list;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
    while (sqlite3_step(statement) == SQLITE_ROW && list.size() < 100) {
      const auto* text = sqlite3_column_text(statement, 0);
      if (text != nullptr)
        list.emplace_back(static_cast<const char*>(static_cast<const void*>(text)));
    }
  }
  sqlite3_finalize(statement);
  return list;
}

/// A value in the place of column `name`: odd ones of every type, and neighbours of what is there.
std::string value(const std::string& name, Random& random) {
  static const std::array<const char*, 36> kOdd{"NULL",
                                                "0",
                                                "1",
                                                "-1",
                                                "2",
                                                "3",
                                                "4",
                                                "7",
                                                "8",
                                                "16",
                                                "255",
                                                "1024",
                                                "2147483647",
                                                "2147483648",
                                                "-2147483648",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "0.0",
                                                "-0.0",
                                                "1e-320",
                                                "1e-9",
                                                "0.5",
                                                "1e300",
                                                "9e999",
                                                "''",
                                                "'x'",
                                                "'1,2,3'",
                                                "'sequential'",
                                                "'chunked'",
                                                "'signaled'",
                                                "'symmetric'",
                                                "'chunked ctas=8 transport=ring chunks=2'",
                                                "'sequential ctas=0 transport=ring'",
                                                "zeroblob(9)",
                                                "CAST(x'fffe00' AS TEXT)",
                                                "printf('%.300c', 'y')"};
  static const std::array<const char*, 12> kNear{"{0} + 1",
                                                 "{0} - 1",
                                                 "{0} * 2",
                                                 "{0} / 2",
                                                 "-{0}",
                                                 "{0} * 1000",
                                                 "{0} * 0.5",
                                                 "{0} || ''",
                                                 "{0} || ',1'",
                                                 "replace({0}, ' ', '  ')",
                                                 "replace({0}, '1', '2')",
                                                 "replace({0}, 'ring', 'symmetric')"};
  if (random() % 2 == 0) return pick(kOdd, random);
  return fmt::format(fmt::runtime(pick(kNear, random)), name);
}

std::string statement(sqlite3* database, Random& random) {
  // The tables that answers are made of come twice.
  const auto tables = column(database,
                             "SELECT name FROM sqlite_schema WHERE type = 'table' UNION ALL VALUES "
                             "('platforms'), ('measurements'), ('winners')");
  if (tables.empty()) return "VACUUM";
  const std::string table = pick(tables, random);
  const auto columns =
      column(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  if (columns.empty()) return "VACUUM";
  const std::string name = pick(columns, random);
  switch (random() % 16) {
    case 0:
      return fmt::format("DELETE FROM {} WHERE abs(random()) % 4 = 0", table);
    case 1:
      return fmt::format("UPDATE OR IGNORE {} SET {} = {}", table, name, value(name, random));
    case 2:
      return fmt::format("UPDATE OR IGNORE {0} SET {1} = (SELECT {1} FROM {0} ORDER BY random())",
                         table, name);
    case 3:
      return fmt::format("PRAGMA user_version = {}", random() % 9);
    case 4:
      return fmt::format("ALTER TABLE {} RENAME COLUMN {} TO other", table, name);
    case 5:
      return "PRAGMA journal_mode = " + std::string(random() % 2 == 0 ? "DELETE" : "WAL");
    case 6:
      return fmt::format("CREATE INDEX IF NOT EXISTS more ON {} ({})", table, name);
    default:
      return fmt::format("UPDATE OR IGNORE {} SET {} = {} WHERE abs(random()) % {} = 0", table,
                         name, value(name, random), 1 + random() % 8);
  }
}

/// The bytes of the database after some statements; a statement that fails changes nothing.
std::vector<std::uint8_t> changed(std::span<const std::uint8_t> bytes, Random& random) {
  // The function random() of SQL: the same values for the same seed.
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(random() >> 1), nullptr);
  const ScratchFile file("mutated", bytes);
  sqlite3* database = nullptr;
  if (sqlite3_open(file.path().c_str(), &database) == SQLITE_OK) {
    const auto run = [&](const std::string& sql) {
      sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    };
    run("PRAGMA foreign_keys = OFF");
    run("PRAGMA ignore_check_constraints = ON");
    run("PRAGMA synchronous = OFF");
    for (auto left = 1 + random() % 3; left > 0; --left) run(statement(database, random));
    run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  sqlite3_close(database);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace
}  // namespace overlaptune::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace overlaptune::fuzz;
  Random random(seed);
  if (random() % 2 == 0) {
    const auto bytes = changed({data, size}, random);
    if (!bytes.empty() && bytes.size() <= most) {
      std::copy(bytes.begin(), bytes.end(), data);
      return bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
