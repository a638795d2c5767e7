#include "db/file/place.hpp"

#include <sys/stat.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/file/copy.hpp"
#include "db/tallies.hpp"

namespace overlaptune::db {
namespace {

std::uint64_t inode_of(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? std::uint64_t{status.st_ino} : 0;
}

}  // namespace

Place::Place(Connection& connection) : connection_(connection), file_(place_of(connection)) {}

bool Place::has_moved() {
  int moved = 0;
  (void)sqlite3_file_control(connection_.database().getHandle(), "main", SQLITE_FCNTL_HAS_MOVED,
                             &moved);
  return moved != 0;
}

Place::Seen Place::look() const {
  struct stat status {};
  if (stat(file_.c_str(), &status) != 0) return {};
  return {.bytes = status.st_size,
          .written_s = status.st_mtim.tv_sec,
          .written_ns = status.st_mtim.tv_nsec,
          .log = inode_of(file_ + "-wal")};
}

bool Place::rows_are_missing() {
  constexpr int kPause = 100;  // times as long as the count took
  const auto start = std::chrono::steady_clock::now();
  const bool missing = lacks_rows();
  const auto end = std::chrono::steady_clock::now();
  due_ = end + kPause * (end - start);
  return missing;
}

bool Place::lacks_rows() {
  // Pages that SQLite remembers would be counted as they were.
  (void)sqlite3_db_release_memory(connection_.database().getHandle());
  bool lacks = false;
  try {
    // Rows and tallies of one moment: after a change that failed, others write meanwhile.
    connection_.read([&] {
      auto orphans = connection_.query("PRAGMA foreign_key_check");
      lacks = orphans.step() || !tally_faults(connection_).empty();
    });
  } catch (const Failure& failure) {
    return failure.kind() == ErrorKind::bad_database;
  }
  return lacks;
}

bool Place::is_due(const Seen& now, Recount recount) const {
  return recount == Recount::now || (now != *seen_ && std::chrono::steady_clock::now() >= due_);
}

std::optional<std::string> Place::change(Recount recount) {
  if (has_moved()) return "was removed or replaced while it was in use";
  const Seen now = look();
  if (!seen_) {
    was_sound_ = !rows_are_missing();
  } else if (now.log != seen_->log) {
    return fmt::format("its '{}-wal' was removed or replaced while it was in use", file_);
  } else if (!is_due(now, recount)) {
    return std::nullopt;
  } else if (was_sound_ && rows_are_missing()) {
    return "was written over while it was in use";
  }
  seen_ = now;
  return std::nullopt;
}

void Place::give_up() {
  sqlite3_db_config(connection_.database().getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                    nullptr);
  const std::string log = file_ + "-wal";
  if (!seen_ || inode_of(log) != seen_->log) return;
  for (const std::string& name : {log, file_ + "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }
}

}  // namespace overlaptune::db
