#include "db/file/connection.hpp"

#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/seal.hpp"
#include "db/store.hpp"

namespace overlaptune::db {
namespace {

template <class F>
auto guarded(const std::filesystem::path& file, F&& call) {
  errno = 0;  // `failure_of` reads it
  try {
    return call();
  } catch (const SQLite::Exception& error) {
    throw failure_of(error, file);
  }
}

}  // namespace

Query::Query(SQLite::Statement& statement, const std::filesystem::path& file)
    : statement_(statement), file_(file) {}

Query::~Query() {
  // tryReset repeats an error of the last step, which has been thrown already.
  (void)statement_.tryReset();
}

Query& Query::bind(std::int64_t value) {
  guarded(file_, [&] { statement_.bind(++parameter_, value); });
  return *this;
}

Query& Query::bind(double value) {
  guarded(file_, [&] { statement_.bind(++parameter_, value); });
  return *this;
}

Query& Query::bind(std::string_view value) {
  guarded(file_, [&] { statement_.bind(++parameter_, std::string(value)); });
  return *this;
}

Query& Query::bind_null() {
  guarded(file_, [&] { statement_.bind(++parameter_); });
  return *this;
}

bool Query::step() {
  column_ = 0;
  return guarded(file_, [&] { return statement_.executeStep(); });
}

void Query::run() {
  while (step()) {
  }
}

SQLite::Column Query::column() {
  return guarded(file_, [&] { return statement_.getColumn(column_++); });
}

int Query::nulls(int columns) {
  return guarded(file_, [&] {
    int count = 0;
    for (int i = column_; i < column_ + columns; ++i) count += statement_.isColumnNull(i) ? 1 : 0;
    return count;
  });
}

std::int64_t Query::integer() {
  const auto value = column();
  if (!value.isInteger()) damaged(fmt::format("{} is not an integer", value.getName()));
  return value.getInt64();
}

int Query::small_integer() {
  const std::int64_t value = integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    damaged(fmt::format("{} is out of range", value));
  }
  return static_cast<int>(value);
}

double Query::real() {
  const auto value = column();
  if (!value.isFloat()) damaged(fmt::format("{} is not a number", value.getName()));
  return value.getDouble();
}

std::string Query::text() {
  const auto value = column();
  if (!value.isText()) damaged(fmt::format("{} is not text", value.getName()));
  return value.getString();
}

void Query::damaged(std::string_view what) const {
  throw DamagedRow(file_, std::string(what));
}

// `?`, `#` and `%` have a meaning in a URI and are escaped. The empty host keeps SQLite from taking
// a path that begins with two slashes as the name of a host.
std::string uri(const std::filesystem::path& file, std::string_view parameters) {
  std::string text = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return fmt::format("{}?{}", text, parameters);
}

Connection::Connection(std::filesystem::path file, const std::string& uri, int flags)
    : file_(std::move(file)), database_(guarded(file_, [&] {
        return SQLite::Database(uri, flags | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX,
                                static_cast<int>(kWriterPatience.count()));
      })) {
  add_seal_function(database_.getHandle());
}

Query Connection::query(const std::string& sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    found = guarded(
        file_, [&] { return statements_.emplace(sql, SQLite::Statement(database_, sql)).first; });
  }
  return Query(found->second, file_);
}

void Connection::execute(const std::string& sql) {
  guarded(file_, [&] { database_.exec(sql); });
}

bool Connection::is_in_transaction() {
  return sqlite3_get_autocommit(database_.getHandle()) == 0;
}

std::int64_t Connection::integer(const std::string& sql) {
  return guarded(file_, [&] { return database_.execAndGet(sql).getInt64(); });
}

}  // namespace overlaptune::db
