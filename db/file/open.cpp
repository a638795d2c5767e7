#include "db/file/open.hpp"

#include <chrono>
#include <csignal>
#include <ctime>
#include <string>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/patience.hpp"
#include "db/file/create.hpp"
#include "db/file/file_header.hpp"
#include "db/file/file_lock.hpp"
#include "db/schema.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;

/// How long a reader waits for a process that has the file to itself. That takes moments: to
/// recover the file after a crash, or to close it as the last one. A process that keeps the file
/// longer does not share it at all.
constexpr milliseconds kReaderPatience(2'000);

/// Keeps SIGXFSZ, which ends a process whose file would exceed its limit (`ulimit -f`), from this
/// thread: a write over the limit then fails like one to a full disk. The program ignores the
/// signal; this is for the programs that use the library, which may not.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;  // the caller waits for it
    const timespec at_once{};
    while (sigtimedwait(&signal_, nullptr, &at_once) == SIGXFSZ) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

Failure refused(const fs::path& file, std::string_view text) {
  return {ErrorKind::bad_database, about(file, text)};
}

void check_schema(Connection& connection) {
  const fs::path& file = connection.file();
  const auto version = connection.integer("PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw refused(file,
                  fmt::format("has schema version {}, newer than this program's {}; use a newer "
                              "overlaptune",
                              version, kSchemaVersion));
  }
  if (version < 1) throw refused(file, "damaged (no schema version); restore a copy");
  if (version < kSchemaVersion) {
    throw refused(file, fmt::format("has schema version {}, of a program before the first release; "
                                    "`overlaptune db export` of that program, then `db import` of "
                                    "this one",
                                    version));
  }
  if (const auto fault = schema_fault(connection)) throw refused(file, *fault);
}

/// Limits what a damaged or hostile file can do (sqlite.org/security.html).
void be_careful(Connection& connection) {
  sqlite3* handle = connection.database().getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int what : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                         SQLITE_DBCONFIG_ENABLE_VIEW}) {
    sqlite3_db_config(handle, what, 0, nullptr);
  }
  connection.execute("PRAGMA cell_size_check = ON");
}

std::unique_ptr<Connection> connect(const fs::path& file, std::string_view parameters, int flags) {
  auto connection = std::make_unique<Connection>(file, uri(file, parameters), flags);
  be_careful(*connection);
  if (flags == SQLite::OPEN_READONLY) {
    connection->database().setBusyTimeout(static_cast<int>(kReaderPatience.count()));
  }
  return connection;
}

/// Opens a read-only connection and checks all that can be checked. `frozen`: the file is one that
/// no process is writing; it is read as it is, without the files that readers share with writers.
Opened look(const fs::path& file, bool frozen) {
  auto connection =
      frozen ? open_without_log(file) : connect(file, "mode=ro", SQLite::OPEN_READONLY);
  check_header(*connection);
  check_schema(*connection);
  return {.connection = std::move(connection)};
}

/// Looks several times. While another process writes a file, it can look damaged to a reader
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

/// Whether this process may make the files that readers share with writers.
bool may_write_beside(const fs::path& file) {
  return access(beside(file, "").parent_path().c_str(), W_OK) == 0;
}

/// Whether this process can change neither the file nor its folder. A settled database there needs
/// no locks, which some read-only file systems lack.
bool may_not_write(const fs::path& file) {
  return access(file.c_str(), W_OK) != 0 && !may_write_beside(file);
}

/// Looks as a reader does. A frozen file stays locked while it is read.
Opened look_as_reader(const fs::path& file, Access access) {
  const bool fixed = access == Access::settled && !has_log(file) && may_not_write(file);
  auto lock = std::make_unique<FileLock>(
      file, kReaderPatience,
      fixed ? FileLock::WithoutLocks::goes_on : FileLock::WithoutLocks::fails);
  bool frozen = access == Access::settled && !has_log(file);  // a log: somebody writes all the same
  Opened opened;
  if (!frozen) {
    try {
      return look(file, false);
    } catch (const Failure& failure) {
      // In a folder that this process may not write in, SQLite cannot share the file with a writer.
      // No process with these rights can be writing it.
      frozen =
          failure.kind() == ErrorKind::cannot_write && !has_log(file) && !may_write_beside(file);
      if (!frozen) throw;
    }
  }
  opened = look(file, true);
  opened.lock = std::move(lock);
  return opened;
}

bool uses_log(Connection& connection) {
  auto mode = connection.query("PRAGMA journal_mode");
  return mode.step() && mode.text() == "wal";
}

/// Gives the database a log. A file without a log is locked for that, and SQLite does not wait if
/// another process is about to do the same. The change is in one sector of the file, so it needs no
/// journal, which a killed process would leave behind.
void use_log(Connection& connection) {
  if (uses_log(connection)) return;
  connection.execute("PRAGMA journal_mode = MEMORY");
  constexpr auto kPause = milliseconds(5);
  sqlite3* handle = connection.database().getHandle();
  connection.database().setBusyTimeout(static_cast<int>(kPause.count()));
  const auto tried = [handle] {
    constexpr const char* kWal = "PRAGMA journal_mode = WAL";
    return (sqlite3_exec(handle, kWal, nullptr, nullptr, nullptr) & 0xff) != SQLITE_BUSY;
  };
  if (!comes_true(tried, kWriterPatience, kPause)) throw locked(connection.file());
  connection.database().setBusyTimeout(static_cast<int>(kWriterPatience.count()));
  connection.execute("PRAGMA journal_mode = WAL");  // nothing is left to do, or it tells its error
}

/// Looks before anything may write. A file that is refused gets no new file beside it, not even a
/// lock file if there is no log.
void look_before_writing(const fs::path& file) {
  (void)patiently(file, [&] {
    const FileLock lock(file, kWriterPatience);
    return look(file, !has_log(file));
  });
}

Opened open_for_writing(const fs::path& file) {
  look_before_writing(file);
  auto connection = connect(file, "mode=rw", SQLite::OPEN_READWRITE);
  if (sqlite3_db_readonly(connection->database().getHandle(), "main") != 0) {
    throw Failure(ErrorKind::cannot_write, about(file, "is read-only; make it writable"));
  }
  use_log(*connection);
  // If a process dies, nothing is lost. If the machine loses power, the last transactions may be
  // lost, but the file stays consistent (sqlite.org/pragma.html#pragma_synchronous).
  connection->execute("PRAGMA synchronous = NORMAL");
  (void)connection->integer("SELECT count(*) FROM platforms");  // makes the log, or fails now
  return {.connection = std::move(connection)};
}

}  // namespace

Opened open_file(const fs::path& file, Access access) {
  const bool reads = access == Access::read || access == Access::settled;
  const NoFileSizeSignal guard;  // for the files that readers share with writers
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
  auto opened = reads ? patiently(file, [&] { return look_as_reader(file, access); })
                      : open_for_writing(file);
  opened.writes = !reads;
  opened.connection->execute("PRAGMA foreign_keys = ON");
  if (reads) opened.connection->execute("PRAGMA query_only = ON");
  return opened;
}

std::unique_ptr<Connection> open_without_log(const fs::path& file) {
  return connect(file, "mode=ro&immutable=1", SQLite::OPEN_READONLY);
}

Opened open_memory(std::int64_t page_bytes) {
  auto connection = std::make_unique<Connection>(
      "memory", ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  connection->execute(fmt::format("PRAGMA page_size = {}", page_bytes));
  create_schema(*connection);
  connection->execute("PRAGMA foreign_keys = ON");
  return {.connection = std::move(connection)};
}

}  // namespace overlaptune::db
