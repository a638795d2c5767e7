#include "db/file/create.hpp"

#include <fmt/format.h>

#include "db/file/connection.hpp"
#include "db/file/file_header.hpp"
#include "db/file/file_lock.hpp"
#include "db/file/temporary_file.hpp"
#include "db/schema.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

void check_new_place(const fs::path& file) {
  const auto refused = [&](const std::string& text) {
    return Failure(ErrorKind::cannot_write, about(file, text));
  };
  std::error_code error;
  const fs::path folder = fs::absolute(file).parent_path();
  if (!fs::is_directory(folder, error)) {
    throw refused(fmt::format("there is no folder '{}'; make it", folder.string()));
  }
  if (fs::is_symlink(file, error)) {
    throw refused(
        fmt::format("is a link to '{}', which is not there; name that file, or remove "
                    "the link",
                    fs::read_symlink(file, error).string()));
  }
  // SQLite would take them for parts of the new file.
  for (const char* suffix : {"-wal", "-journal"}) {
    const auto size = fs::file_size(file.string() + suffix, error);
    if (error || size == 0) continue;
    if (fs::exists(file, error)) return;  // another process has just made both
    throw refused(fmt::format("is not there, but its '{}{}' is; put the file back, or remove that",
                              file.string(), suffix));
  }
}

}  // namespace

void create_file(const fs::path& file) {
  check_new_place(file);
  remove_abandoned(file);
  const TemporaryFile temporary(file);
  {
    Connection connection(file, uri(temporary.path(), "mode=rwc"),
                          SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    require_locks(connection);
    // Loading all winners reads the file page by page, and each read is a system call.
    connection.execute("PRAGMA page_size = 16384");
    connection.execute("PRAGMA journal_mode = MEMORY");  // if this fails, the file is removed
    create_schema(connection);
    connection.execute("PRAGMA journal_mode = WAL");
  }
  std::error_code error;
  fs::create_hard_link(temporary.path(), file, error);
  std::error_code unknown;
  if (error && !fs::exists(file, unknown)) {
    fs::rename(temporary.path(), file, error);  // no hard links here
  }
  if (error && !fs::exists(file, unknown)) {
    throw Failure(ErrorKind::cannot_write, about(file, error.message()));
  }
}

}  // namespace overlaptune::db
