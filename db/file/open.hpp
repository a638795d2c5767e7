#pragma once
// Opening a database file without harming it, and creating one without leaving half of one.

#include <filesystem>
#include <memory>

#include "db/file/connection.hpp"
#include "db/file/file_lock.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

struct Opened {
  std::unique_ptr<Connection> connection;
  std::unique_ptr<FileLock> lock{};  ///< of a file that is read as it is, which no process writes
  bool writes = false;               ///< whether it is a file that is open for writing
};

/// Opens a file. A read-only connection first checks all that can be checked: header, application,
/// schema version, the text of the schema, the length of the file. Only then a connection that may
/// write is opened. A file that fails is left unchanged.
[[nodiscard]] Opened open_file(const std::filesystem::path& file, Access access);

/// The file as it is without its log. Where another process is writing it, what is read may be of
/// no single state.
[[nodiscard]] std::unique_ptr<Connection> open_without_log(const std::filesystem::path& file);

/// An empty database of the current schema in memory.
[[nodiscard]] Opened open_memory(std::int64_t page_bytes = 4096);

}  // namespace overlaptune::db
