// Winners by the ten thousand, for who loads all of them before the first answer. They are read
// inside SQLite's own loop, by an aggregate function of ours: what is handed out of it row by row
// and column by column takes half as long again.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/tiling.hpp"
#include "db/impl.hpp"

namespace overlaptune {
namespace {

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

/// The columns of one row from left to right. What is of another type reads as 0 or as no text,
/// which the checks of the whole row then find.
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
    // Its size first: a text of another encoding is converted by that, and moves. Then as a blob,
    // for as a text it would be copied to be ended by a NUL.
    const int size = sqlite3_value_bytes(value);
    const void* data = sqlite3_value_blob(value);
    return data == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  /// Measured: a time of nothing is none.
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
  void groups(std::vector<std::int64_t>& groups) {
    const std::string_view list = text();
    groups.clear();
    if (list.empty()) return;
    const char* const end = list.data() + list.size();
    for (const char* next = list.data();; ++next) {
      const auto parsed = std::from_chars(next, end, groups.emplace_back());
      next = parsed.ptr;
      if (parsed.ec == std::errc{} && next == end) return;
      if (parsed.ec != std::errc{} || *next != ',') damaged("wave_groups are not numbers");
    }
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
  winner.sequential = columns.positive_time();
  winner.problem.op = columns.name<Op>();
  winner.problem.m = columns.integer();
  winner.problem.n = columns.integer();
  winner.problem.k = columns.integer();
  winner.problem.dtype = columns.name<Dtype>();
  winner.problem.ranks = columns.small_integer();
  if (const auto sound = validated(winner.problem); !sound) columns.damaged(sound.error().message);
  winner.launch = columns.name<Launch>();
  winner.config.strategy = columns.name<Strategy>();
  winner.config.tile.block_m = columns.small_integer();
  winner.config.tile.block_n = columns.small_integer();
  winner.config.tile.block_k = columns.small_integer();
  winner.config.tile.stages = columns.small_integer();
  winner.config.tile.cluster = columns.small_integer();
  winner.config.raster = columns.small_integer();
  winner.config.comm_ctas = columns.small_integer();
  columns.groups(winner.config.wave_groups);
  winner.config.chunks = columns.small_integer();
  winner.config.transport = columns.name<Transport>();
  if (const auto wrong = db::complaint(winner.config)) columns.damaged(*wrong);
  if (winner.config.wave_groups.size() > kMostRegions) columns.damaged("too many wave groups");
  if (const auto fitting = fits(winner.problem, winner.config); !fitting) {
    columns.damaged(fmt::format("{} of {}: {}", to_string(winner.config.strategy),
                                to_string(winner.problem), fitting.error().message));
  }
  winner.predicted = columns.time();
  winner.measured = columns.positive_time();
  const auto validated_at = columns.text();
  if (const auto wrong = db::time_complaint("validated_at", validated_at)) columns.damaged(*wrong);
  std::copy(validated_at.begin(), validated_at.end(), winner.validated_at.begin());
  if (columns.text() != to_string(Verdict::valid)) columns.damaged("its verdict is not valid");
}

struct Reading {
  const db::Connection& connection;
  const std::function<void(const BriefWinner&)>& visit;
  BriefWinner winner{};  ///< the same for all rows, so that its groups need no new memory
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

}  // namespace

void Store::each_brief_winner(PlatformId platform,
                              const std::function<void(const BriefWinner&)>& visit) const {
  db::Connection& connection = *impl_->connection;
  sqlite3* database = connection.database().getHandle();
  const auto check = [&](int code, int expected) {
    if (code != expected) throw db::failure_of({database, code}, connection.file());
  };
  // Each page is read once, in the order of the file: to keep them takes memory, and time to get
  // it.
  connection.execute("PRAGMA cache_size = 16");
  // The column on the right comes first: on the way to it SQLite finds where the others begin, all
  // at once instead of a few at a time.
  static const std::string select = fmt::format(
      "SELECT take_row(sequential_us, {}, launch, {}, predicted_us, measured_median_us, "
      "validated_at, verdict) FROM winners WHERE platform_id = ?",
      db::kProblemColumns, db::kConfigColumns);
  Reading reading{connection, visit};
  check(sqlite3_create_function(database, "take_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &reading,
                                nullptr, &take_row, &give_no_result),
        SQLITE_OK);
  sqlite3_stmt* compiled = nullptr;
  check(sqlite3_prepare_v2(database, select.c_str(), -1, &compiled, nullptr), SQLITE_OK);
  const Statement statement(compiled, &sqlite3_finalize);
  check(sqlite3_bind_int64(compiled, 1, platform), SQLITE_OK);
  const int code = sqlite3_step(compiled);
  if (reading.failure) std::rethrow_exception(reading.failure);
  check(code, SQLITE_ROW);
}

}  // namespace overlaptune
