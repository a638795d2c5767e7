#pragma once
// Opening a database file without harming it, and making a new one without leaving half of one.

#include <filesystem>
#include <memory>

#include "db/connection.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

struct Opened {
  std::unique_ptr<Connection> connection;
  int file_version = 0;  ///< schema version of the file itself
  /// The connection sees a copy or a file that nobody can be writing: what it reads never changes.
  bool frozen = false;
  /// In WAL mode, and so with a wal-index (db/freshness.hpp). It stays so while the file is open.
  bool wal = false;
};

/// Everything that can be known of a file is checked through a read-only connection before one that
/// may write is opened: header, application, schema version, the text of the schema, the length of
/// the file. A file that fails keeps its bytes.
[[nodiscard]] Opened open_file(const std::filesystem::path& file, Access access);

/// An empty database of the current schema in memory.
[[nodiscard]] Opened open_memory();

}  // namespace overlaptune::db
