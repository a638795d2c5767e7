#pragma once
// One SQLite connection with its compiled statements, and a statement in use. No exception of
// SQLite leaves this file: every error is a `Failure`.

#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/names.hpp"
#include "core/base/units.hpp"
#include "db/file/failure.hpp"

namespace overlaptune::db {

/// A compiled statement in use. Parameters are bound and columns are read from left to right. The
/// destructor resets the statement, so that no read transaction stays open.
class Query {
 public:
  Query(SQLite::Statement& statement, const std::filesystem::path& file);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& bind(std::int64_t value);
  Query& bind(int value) { return bind(std::int64_t{value}); }
  Query& bind(double value);
  Query& bind(std::string_view value);
  Query& bind(const std::string& value) { return bind(std::string_view(value)); }
  Query& bind(bool value) { return bind(std::int64_t{value}); }
  Query& bind(std::uint64_t value) { return bind(std::bit_cast<std::int64_t>(value)); }
  Query& bind(Bytes value) { return bind(value.count); }
  Query& bind(Microseconds value) { return bind(value.count()); }
  Query& bind(const char* value) { return bind(std::string_view(value)); }
  Query& bind_null();
  template <class T>
  Query& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }
  template <class E>
  Query& bind(E value) requires requires {
    NamesOf<E>::all;
  }
  { return bind(to_string(value)); }

  /// Goes to the next row; false at the end.
  [[nodiscard]] bool step();
  /// Runs a statement that returns no rows.
  void run();

  void skip(int columns) { column_ += columns; }
  /// How many of the next columns are NULL.
  [[nodiscard]] int nulls(int columns);
  /// Goes back to the first column of the row.
  void start_again() { column_ = 0; }

  // Columns of the present row. A value of another type or range is a damaged file.
  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] int small_integer();
  [[nodiscard]] double real();
  [[nodiscard]] std::string text();

  void read(std::string& value) { value = text(); }
  void read(std::int64_t& value) { value = integer(); }
  void read(std::uint64_t& value) { value = std::bit_cast<std::uint64_t>(integer()); }
  void read(int& value) { value = small_integer(); }
  void read(bool& value) { value = integer() != 0; }
  void read(double& value) { value = real(); }
  void read(Bytes& value) { value.count = integer(); }
  void read(Microseconds& value) { value = us(real()); }
  template <class E>
  void read(E& value) requires requires {
    NamesOf<E>::all;
  }
  {
    const auto parsed = parse_name<E>(text());
    if (!parsed) damaged(parsed.error().message);
    value = *parsed;
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (nulls(1) == 1) return skip(1);
    read(value.emplace());
  }
  /// Reads the next columns into these values.
  template <class First, class Second, class... Others>
  void read(First& first, Second& second, Others&... others) {
    read(first);
    read(second, others...);
  }

  /// Throws `DamagedRow` for the present row.
  [[noreturn]] void damaged(std::string_view what) const;

 private:
  SQLite::Column column();

  SQLite::Statement& statement_;
  const std::filesystem::path& file_;
  int parameter_ = 0;
  int column_ = 0;
};

/// The URI of a file with parameters such as "mode=ro", as SQLite takes it.
[[nodiscard]] std::string uri(const std::filesystem::path& file, std::string_view parameters);

/// How long a writer waits for another one. Readers never wait for writers (WAL).
inline constexpr std::chrono::milliseconds kWriterPatience(20'000);

class Connection {
 public:
  /// Opens `uri`, in SQLite's syntax; messages show `file`.
  Connection(std::filesystem::path file, const std::string& uri, int flags);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Compiles `sql` once and keeps it.
  [[nodiscard]] Query query(const std::string& sql);
  void execute(const std::string& sql);
  [[nodiscard]] std::int64_t integer(const std::string& sql);  ///< result of a query with one value
  [[nodiscard]] std::int64_t last_id() const { return database_.getLastInsertRowid(); }

  /// Runs `change` in one transaction: all of it happens, or nothing.
  template <class F>
  void write(F&& change) {
    try {
      transact("BEGIN IMMEDIATE", [&] {
        change();
        if (before_commit_) before_commit_();
      });
    } catch (const Failure& failure) {
      // A file that somebody writes over looks damaged, or lacks what the change refers to.
      if (after_failure_) after_failure_(failure);
      throw;
    }
  }
  /// Runs `look` on one unchanging view of the database: that of the transaction which is open, or
  /// of a new one.
  template <class F>
  void read(F&& look) {
    if (is_in_transaction()) {
      look();
    } else {
      transact("BEGIN", std::forward<F>(look));
    }
  }

  /// Sets what is called before each commit of `write`, and throws to prevent it; and what is
  /// called after a change that failed, when all of it is undone, and throws where it knows a
  /// better reason.
  void watch(std::function<void()> before_commit,
             std::function<void(const Failure&)> after_failure) {
    before_commit_ = std::move(before_commit);
    after_failure_ = std::move(after_failure);
  }

  [[nodiscard]] SQLite::Database& database() { return database_; }
  [[nodiscard]] bool is_in_transaction();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  template <class F>
  void transact(const std::string& begin, F&& body) {
    execute(begin);
    try {
      std::forward<F>(body)();
      execute("COMMIT");
    } catch (...) {
      // After some errors SQLite has rolled back already. It then refuses this rollback, which does
      // no harm.
      database_.tryExec("ROLLBACK");
      throw;
    }
  }

  std::filesystem::path file_;
  SQLite::Database database_;
  std::unordered_map<std::string, SQLite::Statement> statements_;
  std::function<void()> before_commit_{};
  std::function<void(const Failure&)> after_failure_{};
};

}  // namespace overlaptune::db
