#include "db/open.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/file_header.hpp"
#include "db/schema.hpp"
#include "db/temporary_file.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

/// How long a reader waits for a process that has the file to itself. That takes moments: to
/// recover the file after a crash, or to close it as the last one. A process that keeps the file
/// longer does not share it at all.
constexpr int kReaderTimeoutMs = 2'000;

Failure refused(const fs::path& file, std::string_view text) {
  return {ErrorKind::bad_database, about(file, text)};
}

/// The URI of a file. `?`, `#` and `%` have a meaning in a URI and are escaped. The empty host
/// keeps SQLite from taking a path that begins with two slashes as the name of a host.
std::string uri(const fs::path& file, std::string_view parameters) {
  std::string text = "file://";
  for (const char c : fs::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return fmt::format("{}?{}", text, parameters);
}

/// Checks the schema and returns its version.
int check_schema(Connection& connection) {
  const fs::path& file = connection.file();
  const auto version = connection.integer("PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw refused(file,
                  fmt::format("has schema version {}, newer than this program's {}; use a newer "
                              "overlaptune",
                              version, kSchemaVersion));
  }
  if (version < 1) throw refused(file, "damaged (no schema version); restore a copy");
  if (const auto fault = schema_fault(connection, static_cast<int>(version))) {
    throw refused(file, fmt::format("damaged schema ({}); restore a copy", *fault));
  }
  return static_cast<int>(version);
}

/// Limits what a damaged or hostile file can do (sqlite.org/security.html).
void be_careful(Connection& connection) {
  sqlite3* handle = connection.database().getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  connection.execute("PRAGMA cell_size_check = ON");
}

std::unique_ptr<Connection> connect(const fs::path& file, std::string_view parameters, int flags) {
  auto connection = std::make_unique<Connection>(file, uri(file, parameters), flags);
  be_careful(*connection);
  if (flags == SQLite::OPEN_READONLY) connection->database().setBusyTimeout(kReaderTimeoutMs);
  return connection;
}

std::unique_ptr<Connection> connect_memory(const fs::path& name) {
  return std::make_unique<Connection>(name,
                                      ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

/// Opens a read-only connection and checks all that can be checked. `frozen`: the file is one that
/// no process is writing; it is read without a lock, and without the files that readers share with
/// writers.
Opened look(const fs::path& file, bool frozen) {
  const auto* parameters = frozen ? "mode=ro&immutable=1" : "mode=ro";
  auto connection = connect(file, parameters, SQLite::OPEN_READONLY);
  check_header(*connection);
  const int version = check_schema(*connection);
  return {std::move(connection), version, frozen};
}

/// Looks several times. While another process migrates a file, it can look damaged to a reader
/// without locks; a damaged file stays so.
template <class F>
Opened patiently(const fs::path& file, const F& look_once) {
  constexpr int kSecondLooks = 3;
  for (int looks = 0;; ++looks) {
    try {
      check_place(file);
      return look_once();
    } catch (const Failure& failure) {
      if (failure.kind() != ErrorKind::bad_database || looks == kSecondLooks) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(2 << looks));
    }
  }
}

/// Creates an empty database. The file is complete before it gets its name, so that a process that
/// is killed leaves no half of a database. If another process has made the file by then, that one
/// stays.
void create_file(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw Failure(ErrorKind::cannot_write,
                  about(file, fmt::format("there is no folder '{}'; make it", folder.string())));
  }
  remove_abandoned(file);
  const TemporaryFile temporary(file);
  {
    Connection connection(file, uri(temporary.path(), "mode=rwc"),
                          SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    // Loading all winners reads the file page by page, and each read is a system call.
    connection.execute("PRAGMA page_size = 16384");
    connection.execute("PRAGMA journal_mode = MEMORY");  // if this fails, the file is removed
    migrate(connection);
    connection.execute("PRAGMA journal_mode = WAL");
  }
  fs::create_hard_link(temporary.path(), file, error);
  std::error_code unknown;
  if (error && !fs::exists(file, unknown)) {
    fs::rename(temporary.path(), file, error);  // no hard links here
  }
  if (error && !fs::exists(file, unknown)) {
    throw Failure(ErrorKind::cannot_write, about(file, error.message()));
  }
}

Opened copy_to_memory(const fs::path& file, Connection& source, int version) {
  auto memory = connect_memory(file);
  try {
    SQLite::Backup(memory->database(), source.database()).executeStep();
  } catch (const SQLite::Exception& error) {
    throw failure_of(error, file);
  }
  try {
    migrate(*memory);
  } catch (const Failure& failure) {
    // In memory no place can be full or locked, so the file is the cause.
    if (failure.kind() == ErrorKind::bad_database) throw;
    throw refused(file, "damaged (cannot be brought up to date); restore a copy");
  }
  return {std::move(memory), version, true};
}

Opened open_for_reading(const fs::path& file, Access access) {
  auto opened = patiently(file, [&] {
    // A log means that somebody writes all the same.
    if (access == Access::settled) return look(file, !has_log(file));
    try {
      return look(file, false);
    } catch (const Failure& failure) {
      // If this process may not write in the folder and no process has the file open, SQLite cannot
      // share it with a writer. No process with these rights can be writing it then.
      if (failure.kind() != ErrorKind::cannot_write || has_log(file)) throw;
      return look(file, true);
    }
  });
  if (opened.file_version == kSchemaVersion) return opened;
  return copy_to_memory(file, *opened.connection, opened.file_version);
}

/// Gives the database a log. A file without a log is locked for that, and SQLite does not wait if
/// another process is about to do the same.
void use_log(Connection& connection) {
  constexpr const char* kUse = "PRAGMA journal_mode = WAL";
  constexpr auto kLimit = std::chrono::seconds(20);
  constexpr auto kPause = std::chrono::milliseconds(5);
  sqlite3* handle = connection.database().getHandle();
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  while ((sqlite3_exec(handle, kUse, nullptr, nullptr, nullptr) & 0xff) == SQLITE_BUSY &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
  }
  connection.execute(kUse);  // does nothing if it is done already; otherwise reports its error
}

Opened open_for_writing(const fs::path& file) {
  // A file that is refused gets no new file beside it, not even a lock file if there is no log.
  const int version = patiently(file, [&] { return look(file, !has_log(file)); }).file_version;
  auto connection = connect(file, "mode=rw", SQLite::OPEN_READWRITE);
  if (sqlite3_db_readonly(connection->database().getHandle(), "main") != 0) {
    throw Failure(ErrorKind::cannot_write, about(file, "is read-only; make it writable"));
  }
  use_log(*connection);
  // If a process dies, nothing is lost. If the machine loses power, the last transactions may be
  // lost, but the file stays consistent (sqlite.org/pragma.html#pragma_synchronous).
  connection->execute("PRAGMA synchronous = NORMAL");
  (void)connection->integer("SELECT count(*) FROM platforms");  // makes the log, or fails now
  if (version < kSchemaVersion) migrate(*connection);
  return {std::move(connection), kSchemaVersion, false};
}

bool uses_log(Connection& connection) {
  auto mode = connection.query("PRAGMA journal_mode");
  return mode.step() && mode.text() == "wal";
}

}  // namespace

Opened open_file(const fs::path& file, Access access) {
  const bool reads = access == Access::read || access == Access::settled;
  std::error_code error;
  if (!fs::exists(file, error)) {
    if (error) {  // a loop of links, or a folder that may not be searched
      const auto kind = reads ? ErrorKind::bad_input : ErrorKind::cannot_write;
      throw Failure(
          kind, about(file, fmt::format("no such file ({}); name another one", error.message())));
    }
    if (access != Access::create) {
      throw Failure(ErrorKind::bad_input,
                    about(file, "no such file; `overlaptune tune` or `probe` makes one"));
    }
    create_file(file);
  }
  auto opened = reads ? open_for_reading(file, access) : open_for_writing(file);
  opened.wal = uses_log(*opened.connection);
  opened.connection->execute("PRAGMA foreign_keys = ON");
  if (reads) opened.connection->execute("PRAGMA query_only = ON");
  return opened;
}

Opened open_memory(std::int64_t page_bytes) {
  auto connection = connect_memory("memory");
  connection->execute(fmt::format("PRAGMA page_size = {}", page_bytes));
  migrate(*connection);
  connection->execute("PRAGMA foreign_keys = ON");
  return {std::move(connection), kSchemaVersion, false};
}

}  // namespace overlaptune::db
