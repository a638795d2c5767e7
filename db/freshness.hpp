#pragma once
// Whether any process has committed anything since we looked, without asking SQLite.

#include <array>
#include <cstdint>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

namespace overlaptune::db {

/// The header of the wal-index (sqlite.org/walformat.html, section 2.1): a counter of transactions,
/// the length of the log, salts and checksums. Equal stamps mean that nothing was committed
/// between.
using Stamp = std::array<std::uint32_t, 12>;

/// `PRAGMA data_version` would tell the same, but takes and drops a file lock: two system calls,
/// over a microsecond. The header lies in shared memory that SQLite has mapped already, and SQLite
/// itself decides by comparing it whether its own page cache is still good. For connections that
/// have read a database in WAL mode only: elsewhere there is no such header, and to ask for it
/// would make a file that nobody takes away. A stamp taken in the middle of a commit is not equal
/// to any other.
[[nodiscard]] std::optional<Stamp> stamp(SQLite::Database& database);

}  // namespace overlaptune::db
