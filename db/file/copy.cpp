#include "db/file/copy.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/rules.hpp"

namespace overlaptune::db {

void copy_pages(Connection& from, Connection& to, const Connection& named) {
  try {
    const int result = SQLite::Backup(to.database(), from.database()).executeStep();
    // Locks are no exceptions to SQLiteCpp.
    if (result != SQLITE_DONE) throw SQLite::Exception("cannot be copied", result);
  } catch (const SQLite::Exception& error) {
    throw failure_of(error, named.file());
  }
}

std::string place_of(Connection& connection) {
  const char* name = sqlite3_db_filename(connection.database().getHandle(), "main");
  return name == nullptr ? "" : name;
}

std::filesystem::path name_beside(Connection& connection, std::string_view why) {
  std::string time = utc_now();
  std::erase(time, ':');
  return fmt::format("{}.{}-{}", std::filesystem::absolute(connection.file()).string(), why, time);
}

std::filesystem::path copy_beside(Connection& connection, std::string_view why) {
  std::filesystem::path place = name_beside(connection, why);
  try {
    Connection copy(place, place.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    copy_pages(connection, copy, copy);
  } catch (const Failure&) {  // a part of a copy is none
    std::error_code ignored;
    for (const char* suffix : {"", "-journal"}) {
      std::filesystem::remove(place.string() + suffix, ignored);
    }
    throw Failure(ErrorKind::cannot_write,
                  about(connection.file(), fmt::format("cannot be copied to '{}' first; check the "
                                                       "space there, then run again",
                                                       place.string())));
  }
  return place;
}

}  // namespace overlaptune::db
