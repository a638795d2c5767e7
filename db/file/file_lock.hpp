#pragma once
// A shared lock on a database file, taken before anything of the file is believed.

#include <chrono>
#include <filesystem>

#include "db/file/connection.hpp"

namespace overlaptune::db {

/// A lock that keeps every other process from writing into the file itself, as one in rollback mode
/// does. (One in WAL mode writes into the log.) It is taken through SQLite, whose locks on the file
/// would end if this process opened and closed the file by another way. Nothing is read or made.
class FileLock {
 public:
  enum class WithoutLocks {
    fails,
    goes_on  ///< holds nothing: for a file that nobody with these rights can write
  };

  /// Waits up to `patience`. Throws `Failure` (`cannot_write`) where another process has the file
  /// to itself, where a killed one left a rollback journal that is still to be rolled back, or one
  /// that cannot be read, and where the file system has no locks.
  FileLock(const std::filesystem::path& file, std::chrono::milliseconds patience,
           WithoutLocks without = WithoutLocks::fails);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  Connection connection_;
};

/// Throws `Failure` (`cannot_write`) where the connection's file is on a file system without locks.
void require_locks(Connection& connection);

}  // namespace overlaptune::db
