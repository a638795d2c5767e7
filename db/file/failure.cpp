#include "db/file/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include <fmt/format.h>
#include <sqlite3.h>

namespace overlaptune::db {
namespace {

bool is_one_of(std::initializer_list<int> codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool damaged_by(int extended) {
  return is_one_of(
      {SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_DATA},
      extended);
}

bool wants_locks(int extended) {
  return is_one_of({SQLITE_IOERR_LOCK, SQLITE_IOERR_RDLOCK, SQLITE_IOERR_UNLOCK,
                    SQLITE_IOERR_CHECKRESERVEDLOCK, SQLITE_IOERR_SHMLOCK},
                   extended);
}

/// A message of SQLite in one line: it may quote the text of a damaged schema, which has many.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

/// The text as one word of a shell.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

std::string about(const std::filesystem::path& file, std::string_view text) {
  return fmt::format("database '{}': {}", file.string(), text);
}

Failure locked(const std::filesystem::path& file) {
  return {ErrorKind::cannot_write,
          about(file, "another process keeps it locked; wait for that one and run again")};
}

Failure no_locks(const std::filesystem::path& file) {
  return {ErrorKind::cannot_write,
          about(file, "this file system has no locks; put the file on a local disk")};
}

Failure hot_journal(const std::filesystem::path& file) {
  return {ErrorKind::cannot_write,
          about(file, fmt::format("a program that was killed left '{}-journal', which undoes its "
                                  "half transaction; run `sqlite3 {} .schema`, which does that, "
                                  "then run again",
                                  file.string(), shell_word(file.string())))};
}

Failure unreadable_journal(const std::filesystem::path& file) {
  return {ErrorKind::cannot_write,
          about(file, fmt::format("'{}-journal' cannot be read and may undo a half transaction; "
                                  "make it readable",
                                  file.string()))};
}

Failure failure_of(const SQLite::Exception& error, const std::filesystem::path& file) {
  const auto cannot_write = [&](std::string_view text) {
    return Failure(ErrorKind::cannot_write, about(file, text));
  };
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      return cannot_write("no space left to write it; free some and run again");
    case SQLITE_READONLY:
      if (error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK) return hot_journal(file);
      return cannot_write("is open for reading only; make the file and its folder writable");
    case SQLITE_CANTOPEN:
      if (errno == EMFILE || errno == ENFILE) {
        return cannot_write("too many files are open; close some, or raise `ulimit -n`");
      }
      [[fallthrough]];
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return cannot_write("cannot be opened here; make the file and its folder writable");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return locked(file);
    case SQLITE_CONSTRAINT:  // our own rules come first, so it is an id of no run or platform
      return Failure(ErrorKind::bad_input,
                     about(file, fmt::format("refused ({}); use ids that this database gave out",
                                             error.what())));
    case SQLITE_IOERR:
      if (wants_locks(error.getExtendedErrorCode())) return no_locks(file);
      if (!damaged_by(error.getExtendedErrorCode())) {
        return cannot_write(fmt::format(
            "{}; check the space and the health of the disk, then run again", error.what()));
      }
      [[fallthrough]];
    default:
      return Failure(
          ErrorKind::bad_database,
          about(file, fmt::format("damaged ({}); see `overlaptune db check`, or restore a copy",
                                  one_line(error.what()))));
  }
}

}  // namespace overlaptune::db
