#include "db/file/file_lock.hpp"

#include <cerrno>
#include <fstream>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/patience.hpp"
#include "db/file/file_header.hpp"

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

enum class Lock { taken, busy, none_here };

/// SQLite says "busy" also where the system has no lock to give, so the system's own word is looked
/// at.
Lock lock_of(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  errno = 0;
  const int code = file.pMethods->xLock(&file, SQLITE_LOCK_SHARED);
  if (code == SQLITE_OK) return Lock::taken;
  return (code & 0xff) == SQLITE_BUSY && errno != ENOLCK ? Lock::busy : Lock::none_here;
}

void release(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  (void)file.pMethods->xUnlock(&file, SQLITE_LOCK_NONE);
}

/// Throws where a journal is hot: the transaction that it belongs to neither ended nor goes on
/// (sqlite.org/lockingv3.html, section 4.1). One that cannot be read may be.
void check_journal(Connection& connection) {
  sqlite3_file& file = file_of(connection);
  int reserved = 0;
  (void)file.pMethods->xCheckReservedLock(&file, &reserved);
  if (reserved != 0) return;
  const fs::path path = beside(connection.file(), "-journal");
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error || bytes == 0) return;
  std::ifstream journal(path, std::ios::binary);
  if (!journal) throw unreadable_journal(connection.file());
  if (journal.get() > 0) throw hot_journal(connection.file());  // else it is done with
}

}  // namespace

FileLock::FileLock(const fs::path& file, std::chrono::milliseconds patience, WithoutLocks without)
    : connection_(file, uri(file, "mode=ro"), SQLite::OPEN_READONLY) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  Lock lock = Lock::busy;
  const auto tried = [&] {
    lock = lock_of(connection_);
    return lock != Lock::busy;
  };
  if (!comes_true(tried, patience, kPause)) throw locked(file);
  if (lock == Lock::none_here && without == WithoutLocks::fails) throw no_locks(file);
  try {
    check_journal(connection_);
  } catch (const Failure&) {
    release(connection_);
    throw;
  }
}

FileLock::~FileLock() {
  release(connection_);
}

void require_locks(Connection& connection) {
  const Lock lock = lock_of(connection);
  if (lock == Lock::none_here) throw no_locks(connection.file());
  if (lock == Lock::taken) release(connection);
}

}  // namespace overlaptune::db
