#pragma once
// What SQLite reports, in our two kinds: a file that is not sound, and a place that cannot be
// written.

#include <filesystem>
#include <string>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"

namespace overlaptune::db {

/// "database 'x.db': " and the text.
[[nodiscard]] std::string about(const std::filesystem::path& file, std::string_view text);

/// `bad_database` for what a damaged file causes, `cannot_write` for what the place causes (full
/// disk, read-only, locked for longer than we wait), `bad_input` for ids of nothing. Result codes:
/// sqlite.org/rescode.html.
[[nodiscard]] Failure failure_of(const SQLite::Exception& error, const std::filesystem::path& file);

}  // namespace overlaptune::db
