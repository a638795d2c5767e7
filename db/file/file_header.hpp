#pragma once
// Checks of a database file before SQLite reads its content. All throw `Failure`: `bad_database`,
// or `bad_input` for a file that may not be read.

#include <filesystem>
#include <string_view>

#include "db/file/connection.hpp"

namespace overlaptune::db {

/// The path of a file that SQLite keeps beside the database, with the suffix "-wal", "-shm" or
/// "-journal"; links are followed, as SQLite does.
[[nodiscard]] std::filesystem::path beside(const std::filesystem::path& file,
                                           std::string_view suffix);

/// Whether there is a write-ahead log with content. If so, the file alone is not the whole
/// database.
[[nodiscard]] bool has_log(const std::filesystem::path& file);

/// Checks that the file and the files that SQLite keeps beside it are no pipes, which would keep a
/// process that opens them waiting. To be called before the file is opened.
void check_place(const std::filesystem::path& file);

/// Checks that the header is ours, and that the file is not cut short. It reads through the
/// descriptor of the connection: opening and closing the file separately would drop all locks that
/// this process has on it, also those of other connections (sqlite.org/howtocorrupt.html, section
/// 2.2).
void check_header(Connection& connection);

}  // namespace overlaptune::db
