#include "db/file_lock.hpp"

#include <cerrno>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/file_header.hpp"
#include "db/uri.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

Failure cannot_write(const fs::path& file, std::string_view text) {
  return {ErrorKind::cannot_write, about(file, text)};
}

sqlite3_file& file_of(Connection& connection) {
  sqlite3_file* file = nullptr;
  (void)sqlite3_file_control(connection.database().getHandle(), "main", SQLITE_FCNTL_FILE_POINTER,
                             static_cast<void*>(&file));
  if (file == nullptr || file->pMethods == nullptr) {
    throw cannot_write(connection.file(), "cannot be locked here; put it on a local disk");
  }
  return *file;
}

/// Whether the lock is taken. SQLite says "busy" also where the system has no lock to give, so the
/// system's own word is looked at.
bool takes_lock(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  errno = 0;
  const int code = file.pMethods->xLock(&file, SQLITE_LOCK_SHARED);
  if (code == SQLITE_OK) return true;
  if ((code & 0xff) == SQLITE_BUSY && errno != ENOLCK) return false;
  throw no_locks(connection.file());
}

void release(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  (void)file.pMethods->xUnlock(&file, SQLITE_LOCK_NONE);
}

/// Whether a journal is hot: the transaction that it belongs to neither ended nor goes on
/// (sqlite.org/lockingv3.html, section 4.1).
bool has_hot_journal(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  int reserved = 0;
  (void)file.pMethods->xCheckReservedLock(&file, &reserved);
  if (reserved != 0) return false;
  // A journal that is done with is empty, or begins with a zero.
  std::ifstream journal(beside(connection.file(), "-journal"), std::ios::binary);
  return journal.get() > 0;
}

}  // namespace

FileLock::FileLock(const fs::path& file, std::chrono::milliseconds patience)
    : connection_(file, uri(file, "mode=ro"), SQLite::OPEN_READONLY) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!takes_lock(connection_)) {
    if (std::chrono::steady_clock::now() >= deadline) throw locked(file);
    std::this_thread::sleep_for(kPause);
  }
  if (!has_hot_journal(connection_)) return;
  release(connection_);
  throw hot_journal(file);
}

FileLock::~FileLock() {
  release(connection_);
}

void require_locks(Connection& connection) {
  if (takes_lock(connection)) release(connection);
}

}  // namespace overlaptune::db
