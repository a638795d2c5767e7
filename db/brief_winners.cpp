// Reading all winners at once, by the ten thousand. An aggregate function of ours reads them inside
// SQLite's own loop, because handing them out row by row and column by column takes longer.

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/check.hpp"
#include "db/impl.hpp"

namespace overlaptune {
namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

/// The columns of one row from left to right. A value of another type reads as 0 or as an empty
/// text; the checks of the whole row then find it.
class Columns {
 public:
  Columns(sqlite3_value** values, const db::Connection& connection)
      : next_(values), connection_(connection) {}

  [[nodiscard]] std::int64_t integer() { return sqlite3_value_int64(*next_++); }
  [[nodiscard]] int small_integer() {
    const std::int64_t value = integer();
    if (value < 0 || value > std::numeric_limits<int>::max()) damaged("a number is out of range");
    return static_cast<int>(value);
  }
  [[nodiscard]] std::string_view text() {
    sqlite3_value* value = *next_++;
    // The size is asked for first, because it converts a text of another encoding, which moves it.
    // The data are read as a blob; a read as text would copy them to append a NUL.
    const int size = sqlite3_value_bytes(value);
    const void* data = sqlite3_value_blob(value);
    return data == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  /// A measured time, which cannot be 0.
  [[nodiscard]] Microseconds positive_time() {
    const Microseconds value = time();
    if (value <= us(0)) damaged("a measured time is 0");
    return value;
  }
  [[nodiscard]] Microseconds time() {
    sqlite3_value* column = *next_++;
    if (sqlite3_value_type(column) != SQLITE_FLOAT) damaged("a time is no number");
    const double value = sqlite3_value_double(column);
    if (!std::isfinite(value) || value < 0) damaged(*db::number_complaint("a time", value));
    return us(value);
  }
  template <class E>
  [[nodiscard]] E name() {
    const std::string_view name = text();
    if (const auto found = find_name<E>(name)) return *found;
    damaged(parse_name<E>(name).error().message);
  }
  void config(Config& config) {
    const std::string_view line = text();
    if (!read_canonical(line, config)) damaged(why_not_canonical(line));
  }
  [[noreturn]] void damaged(std::string_view what) const {
    throw Failure(ErrorKind::bad_database,
                  db::about(connection_.file(),
                            fmt::format("damaged winner ({}); see `overlaptune db check`", what)));
  }

 private:
  sqlite3_value** next_;
  const db::Connection& connection_;
};

void read(Columns columns, BriefWinner& winner) {
  const auto validated_at = columns.text();
  if (const auto wrong = db::time_complaint("validated_at", validated_at)) columns.damaged(*wrong);
  std::copy(validated_at.begin(), validated_at.end(), winner.validated_at.begin());
  winner.problem.op = columns.name<Op>();
  winner.problem.m = columns.integer();
  winner.problem.n = columns.integer();
  winner.problem.k = columns.integer();
  winner.problem.dtype = columns.name<Dtype>();
  winner.problem.ranks = columns.small_integer();
  if (const auto sound = validated(winner.problem); !sound) columns.damaged(sound.error().message);
  winner.launch = columns.name<Launch>();
  columns.config(winner.config);
  if (const auto legal = check(winner.problem, winner.config); !legal) {
    columns.damaged(fmt::format("{} of {}: {}", to_string(strategy_of(winner.config)),
                                to_string(winner.problem), legal.error().message));
  }
  winner.measured = columns.positive_time();
  winner.predicted = columns.time();
  winner.sequential = columns.positive_time();
}

struct Reading {
  const db::Connection& connection;
  const std::function<void(BriefWinner&)>& visit;
  BriefWinner winner{};  ///< reused for all rows, so that its groups need no new memory
  std::exception_ptr failure{};
};

void take_row(sqlite3_context* context, int, sqlite3_value** values) {
  auto& reading = *static_cast<Reading*>(sqlite3_user_data(context));
  try {
    read({values, reading.connection}, reading.winner);
    reading.visit(reading.winner);
  } catch (...) {
    reading.failure = std::current_exception();
    sqlite3_result_error(context, "the row was refused", -1);
  }
}

void give_no_result(sqlite3_context*) {}

/// Registers `take_row` with the connection for one reading.
class Registered {
 public:
  Registered(sqlite3* database, Reading& reading)
      : database_(database),
        code_(sqlite3_create_function(database, kName, -1, kFlags, &reading, nullptr, &take_row,
                                      &give_no_result)) {}
  ~Registered() {
    sqlite3_create_function(database_, kName, -1, kFlags, nullptr, nullptr, nullptr, nullptr);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  [[nodiscard]] int code() const { return code_; }

 private:
  static constexpr const char* kName = "take_row";
  static constexpr int kFlags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  sqlite3* database_;
  int code_;
};

}  // namespace

void Store::each_brief_winner(PlatformId platform,
                              const std::function<void(BriefWinner&)>& visit) const {
  db::Connection& connection = *impl_->connection;
  sqlite3* database = connection.database().getHandle();
  const auto check = [&](int code, int expected) {
    if (code != expected) throw db::failure_of({database, code}, connection.file());
  };
  // Each page is read once, in the order of the file. A larger cache would only take memory, and
  // time to get it.
  connection.execute("PRAGMA cache_size = 16");
  // The rightmost column comes first: on the way to it SQLite finds the start of all other columns
  // at once, instead of a few at a time.
  static const std::string select = fmt::format(
      "SELECT take_row(validated_at, {}, launch, config, measured_median_us, predicted_us, "
      "sequential_us) FROM winners WHERE platform_id = ?",
      db::kProblemColumns);
  Reading reading{connection, visit};
  const Registered registered(database, reading);
  check(registered.code(), SQLITE_OK);
  sqlite3_stmt* compiled = nullptr;
  check(sqlite3_prepare_v2(database, select.c_str(), -1, &compiled, nullptr), SQLITE_OK);
  const Statement statement(compiled, &sqlite3_finalize);
  check(sqlite3_bind_int64(compiled, 1, platform), SQLITE_OK);
  const int code = sqlite3_step(compiled);
  if (reading.failure) std::rethrow_exception(reading.failure);
  check(code, SQLITE_ROW);
}

}  // namespace overlaptune
