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
#include "db/seal.hpp"

namespace overlaptune {
namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

/// The columns of one row from left to right. Each is sealed as it is read. A value of another type
/// reads as 0 or as an empty text; the checks of the whole row then find it.
class Columns {
 public:
  Columns(sqlite3_value** values, db::Sealer& sealer, const db::Connection& connection)
      : next_(values), sealer_(sealer), connection_(connection) {}

  [[nodiscard]] std::int64_t integer() {
    const std::int64_t value = sqlite3_value_int64(*next_++);
    sealer_.add(value);
    return value;
  }
  [[nodiscard]] int small_integer() {
    const std::int64_t value = integer();
    if (value < 0 || value > std::numeric_limits<int>::max()) damaged("a number is out of range");
    return static_cast<int>(value);
  }
  [[nodiscard]] std::string_view text() {
    const std::string_view text = db::text_of(*next_++);
    sealer_.add(text);
    return text;
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
    sealer_.add(value);
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
    throw DamagedRow(connection_.file(), std::string(what));
  }

 private:
  sqlite3_value** next_;
  db::Sealer& sealer_;
  const db::Connection& connection_;
};

void read_key(Columns& columns, Problem& problem, Launch& launch) {
  problem.op = columns.name<Op>();
  problem.m = columns.integer();
  problem.n = columns.integer();
  problem.k = columns.integer();
  problem.elements = columns.name<Elements>();
  problem.ranks = columns.small_integer();
  if (const auto sound = validated(problem); !sound) columns.damaged(sound.error().message);
  launch = columns.name<Launch>();
}

/// Reads the columns of `db::kAnswerColumns`.
void read(Columns& columns, BriefWinner& winner) {
  read_key(columns, winner.problem, winner.launch);
  columns.config(winner.config);
  if (const auto legal = check(winner.problem, winner.config); !legal) {
    columns.damaged(fmt::format("{} of {}: {}", to_string(strategy_of(winner.config)),
                                to_string(winner.problem), legal.error().message));
  }
  winner.measured = columns.positive_time();
  winner.predicted = columns.time();
  winner.sequential = columns.positive_time();
  const auto validated_at = columns.text();
  if (const auto wrong = db::time_complaint("validated_at", validated_at)) columns.damaged(*wrong);
  std::copy(validated_at.begin(), validated_at.end(), winner.validated_at.begin());
}

struct Reading {
  const db::Connection& connection;
  const std::function<void(BriefWinner&)>& visit;
  const std::function<void(const DamagedWinner&)>& damaged;
  BriefWinner winner{};  ///< reused for all rows, so that its groups need no new memory
  db::Sealer sealer{};   ///< likewise; begins with the fingerprint of the platform
  std::size_t sealed_before = 0;
  std::exception_ptr failure{};
};

/// Tells of a damaged row, unless its key is not legible either.
void tell(const Reading& reading, sqlite3_value** values, const DamagedRow& row) {
  DamagedWinner damaged{.fault = row.fault()};
  db::Sealer unused;
  try {
    Columns key(values, unused, reading.connection);
    read_key(key, damaged.problem, damaged.launch);
  } catch (const DamagedRow&) {
    return;
  }
  reading.damaged(damaged);
}

/// The columns: seal, then those that an answer is made of.
void take_row(sqlite3_context* context, int, sqlite3_value** values) {
  auto& reading = *static_cast<Reading*>(sqlite3_user_data(context));
  try {
    try {
      reading.sealer.go_back_to(reading.sealed_before);
      Columns columns(values + 1, reading.sealer, reading.connection);
      read(columns, reading.winner);
      if (sqlite3_value_type(values[0]) != SQLITE_INTEGER ||
          sqlite3_value_int64(values[0]) != reading.sealer.seal()) {
        columns.damaged("the seal is not that of its values");
      }
      reading.visit(reading.winner);
    } catch (const DamagedRow& row) {
      if (!reading.damaged) throw;
      tell(reading, values + 1, row);
    }
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

void Store::each_brief_winner(PlatformId platform, const std::function<void(BriefWinner&)>& visit,
                              const std::function<void(const DamagedWinner&)>& damaged) const {
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
      "SELECT take_row(answer_seal, {}) FROM winners WHERE platform_id = ?", db::kAnswerColumns);
  Reading reading{connection, visit, damaged};
  {
    auto query = connection.query("SELECT fingerprint FROM platforms WHERE id = ?");
    query.bind(platform);
    if (query.step()) reading.sealer.add(std::string_view(query.text()));
    reading.sealed_before = reading.sealer.size();
  }
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
