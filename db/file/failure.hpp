#pragma once
// Errors of SQLite as failures: of a file that is not sound, or of a place that cannot be written.

#include <filesystem>
#include <string>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/error.hpp"

namespace overlaptune::db {

/// The text of a message about a file: "database 'x.db': TEXT".
[[nodiscard]] std::string about(const std::filesystem::path& file, std::string_view text);

/// The failure for an error: `bad_database` for a damaged file, `cannot_write` for an error of the
/// place (full disk, read-only, locked for longer than we wait), `bad_input` for ids that do not
/// exist. Result codes: sqlite.org/rescode.html.
[[nodiscard]] Failure failure_of(const SQLite::Exception& error, const std::filesystem::path& file);

// Failures of kind `cannot_write` for a sound file that cannot be used now.
[[nodiscard]] Failure locked(const std::filesystem::path& file);
[[nodiscard]] Failure no_locks(const std::filesystem::path& file);
/// A process that was killed in the middle of a transaction left what rolls it back.
[[nodiscard]] Failure hot_journal(const std::filesystem::path& file);
/// One that this process may not read.
[[nodiscard]] Failure unreadable_journal(const std::filesystem::path& file);

}  // namespace overlaptune::db
