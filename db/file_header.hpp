#pragma once
// What can be told of a database file before any of it is believed. All throw `Failure`:
// `bad_database`, or `bad_input` for a file that may not be read.

#include <filesystem>

#include "db/connection.hpp"

namespace overlaptune::db {

/// Whether there is a write-ahead log with content: the file alone is then not the database.
[[nodiscard]] bool has_log(const std::filesystem::path& file);

/// To be asked before the file is opened: neither it nor what SQLite keeps beside it may be a pipe,
/// which keeps whoever opens it waiting.
void check_place(const std::filesystem::path& file);

/// The header is ours, and the file not cut short. Reads through the connection's own descriptor:
/// who opens the file apart and closes it drops all locks that this process has on it, those of
/// other connections too (sqlite.org/howtocorrupt.html, section 2.2).
void check_header(Connection& connection);

}  // namespace overlaptune::db
