#pragma once
// Freshness: whether any process has committed anything since the last look, without a query.

#include <array>
#include <cstdint>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

namespace overlaptune::db {

/// The header of the wal-index (sqlite.org/walformat.html, section 2.1): a counter of transactions,
/// the length of the log, salts and checksums. If two stamps are equal, nothing was committed
/// between them.
using Stamp = std::array<std::uint32_t, 12>;

/// The present stamp; none if it cannot be read. `PRAGMA data_version` would answer the same
/// question, but takes and drops a file lock, which needs two system calls. The header is in shared
/// memory that SQLite has mapped already, and SQLite itself compares it to decide whether its page
/// cache is still valid. Only for connections that have read a database in WAL mode: others have no
/// such header, and asking for it would create a file that is never removed. A stamp taken in the
/// middle of a commit differs from all others.
[[nodiscard]] std::optional<Stamp> stamp(SQLite::Database& database);

}  // namespace overlaptune::db
