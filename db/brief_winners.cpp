// Winners by the ten thousand, for who loads all of them before the first answer: SQLite's own
// calls, one for each value, where `Query` makes several.

#include <algorithm>
#include <charconv>
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
  Columns(sqlite3_stmt* statement, const db::Connection& connection)
      : statement_(statement), connection_(connection) {}

  [[nodiscard]] std::int64_t integer() { return sqlite3_column_int64(statement_, column_++); }
  [[nodiscard]] int small_integer() {
    const std::int64_t value = integer();
    if (value < 0 || value > std::numeric_limits<int>::max()) damaged("a number is out of range");
    return static_cast<int>(value);
  }
  [[nodiscard]] std::string_view text() {
    const auto* data = sqlite3_column_text(statement_, column_);
    const int size = sqlite3_column_bytes(statement_, column_++);
    return data == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(static_cast<const void*>(data)),
                                  static_cast<std::size_t>(size));
  }
  /// Measured: a time of nothing is none.
  [[nodiscard]] Microseconds positive_time() {
    const Microseconds value = time();
    if (value <= us(0)) damaged("a measured time is 0");
    return value;
  }
  [[nodiscard]] Microseconds time() {
    if (sqlite3_column_type(statement_, column_) != SQLITE_FLOAT) damaged("a time is no number");
    const double value = sqlite3_column_double(statement_, column_++);
    if (const auto wrong = db::number_complaint("a time", value)) damaged(*wrong);
    return us(value);
  }
  template <class E>
  [[nodiscard]] E name() {
    const auto value = parse_name<E>(text());
    if (!value) damaged(value.error().message);
    return *value;
  }
  [[nodiscard]] std::vector<std::int64_t> groups() {
    const std::string_view list = text();
    if (list.empty()) return {};
    std::vector<std::int64_t> groups;
    groups.reserve(1 + static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')));
    const char* const end = list.data() + list.size();
    for (const char* next = list.data();; ++next) {
      const auto parsed = std::from_chars(next, end, groups.emplace_back());
      next = parsed.ptr;
      if (parsed.ec == std::errc{} && next == end) return groups;
      if (parsed.ec != std::errc{} || *next != ',') damaged("wave_groups are not numbers");
    }
  }
  [[noreturn]] void damaged(std::string_view what) const {
    throw Failure(ErrorKind::bad_database,
                  db::about(connection_.file(),
                            fmt::format("damaged winner ({}); see `overlaptune db check`", what)));
  }

 private:
  sqlite3_stmt* statement_;
  const db::Connection& connection_;
  int column_ = 0;
};

BriefWinner read(Columns columns) {
  BriefWinner winner;
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
  winner.config.wave_groups = columns.groups();
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
  winner.sequential = columns.positive_time();
  const auto validated_at = columns.text();
  if (const auto wrong = db::time_complaint("validated_at", validated_at)) columns.damaged(*wrong);
  std::copy(validated_at.begin(), validated_at.end(), winner.validated_at.begin());
  if (columns.text() != to_string(Verdict::valid)) columns.damaged("verdict is not valid");
  return winner;
}

}  // namespace

void Store::each_brief_winner(PlatformId platform,
                              const std::function<void(BriefWinner&&)>& visit) const {
  static const std::string select = fmt::format(
      "SELECT {}, launch, {}, predicted_us, measured_median_us, sequential_us, validated_at, "
      "verdict FROM winners WHERE platform_id = ?",
      db::kProblemColumns, db::kConfigColumns);
  const db::Connection& connection = *impl_->connection;
  sqlite3* database = impl_->connection->database().getHandle();
  const auto check = [&](int code, int expected) {
    if (code != expected) throw db::failure_of({database, code}, connection.file());
  };
  sqlite3_stmt* compiled = nullptr;
  check(sqlite3_prepare_v2(database, select.c_str(), -1, &compiled, nullptr), SQLITE_OK);
  const Statement statement(compiled, &sqlite3_finalize);
  check(sqlite3_bind_int64(compiled, 1, platform), SQLITE_OK);
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(compiled)) == SQLITE_ROW) visit(read({compiled, connection}));
  check(code, SQLITE_DONE);
}

}  // namespace overlaptune
