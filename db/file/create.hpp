#pragma once
// Making a new database file.

#include <filesystem>

namespace overlaptune::db {

/// Creates an empty database. The file is complete before it gets its name, so that a process that
/// is killed leaves no half of a database. If another process has made the file by then, that one
/// stays. Throws `Failure` (`cannot_write`).
void create_file(const std::filesystem::path& file);

}  // namespace overlaptune::db
