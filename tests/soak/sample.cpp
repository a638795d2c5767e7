#include "sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <SQLiteCpp/SQLiteCpp.h>

namespace overlaptune::soak {
namespace {

const std::vector<std::string>& tables() {
  static const std::vector<std::string> list{
      "platforms",  "provenance", "probe_runs",  "measurements",  "problems", "tuning_runs",
      "candidates", "winners",    "layer_gemms", "phase_results", "tallies"};
  return list;
}

/// Flips a bit of a value, in SQL: of its bytes if it is a text or a number with a fraction.
std::string flipped(const std::string& type, Bench& bench, SQLite::Column value) {
  if (type == "INTEGER") {
    const auto bit = std::uint64_t{1} << bench.below(63);
    return std::to_string(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(value.getInt64()) ^ bit));
  }
  if (type == "REAL") {
    const auto bit = std::uint64_t{1} << bench.below(64);
    const auto real = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value.getDouble()) ^ bit);
    if (!std::isfinite(real)) return real > 0 ? "9e999" : "-9e999";
    return fmt::format("{:.17e}", real);
  }
  std::string text = value.getString();
  if (text.empty()) text = " ";
  text[bench.below(text.size())] ^= static_cast<char>(1 << bench.below(8));
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return "CAST(x'" + hex + "' AS TEXT)";
}

Flip flip_value(const std::filesystem::path& file, const std::string& table, Bench& bench) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
  SQLite::Statement columns(database,
                            "SELECT name, type, pk FROM pragma_table_info('" + table + "')");
  std::vector<std::pair<std::string, std::string>> list;
  std::string key;
  while (columns.executeStep()) {
    const std::string name = columns.getColumn(0).getString();
    if (table != "candidates" || name != "id") {  // nothing refers to a candidate by its id
      list.emplace_back(name, columns.getColumn(1).getString());
    }
    if (columns.getColumn(2).getInt() > 0) key += (key.empty() ? "" : ", ") + name;
  }
  const auto& [column, type] = list[bench.below(list.size())];
  SQLite::Statement rows(database, "SELECT count(*) FROM " + table);
  rows.executeStep();
  const auto row = bench.below(static_cast<std::size_t>(rows.getColumn(0).getInt64()));
  const std::string at =
      fmt::format("({0}) = (SELECT {0} FROM {1} LIMIT 1 OFFSET {2})", key, table, row);
  SQLite::Statement present(database, fmt::format("SELECT {} FROM {} WHERE {}", column, table, at));
  present.executeStep();
  const std::string value = flipped(type, bench, present.getColumn(0));
  present.reset();
  database.tryExec(fmt::format("UPDATE {} SET {} = {} WHERE {}", table, column, value, at));
  return {table, fmt::format("{}.{} of row {} becomes {}", table, column, row, value)};
}

Flip flip_byte(const std::filesystem::path& file, Bench& bench) {
  std::string bytes = samples::read_bytes(file);
  const std::size_t at = bench.below(bytes.size());
  const auto bit = bench.below(8);
  bytes[at] ^= static_cast<char>(1 << bit);
  samples::write_bytes(file, bytes);
  return {"", fmt::format("bit {} of byte {}", bit, at)};
}

bool equal(const ovt_answer& answer, const Winner& winner) {
  return answer.config == to_string(winner.candidate.config) &&
         answer.measured_us == winner.candidate.measured->median.count() &&
         answer.predicted_us == winner.candidate.predicted.count() &&
         answer.baseline_us == winner.sequential.count();
}

}  // namespace

void make_sample(const std::filesystem::path& file, int version) {
  stored::put_winners(file, kWinners, version);
  Store store(file, Access::write);
  samples::fill(store, static_cast<std::uint64_t>(version), 16);
}

Flip flip_a_bit(const std::filesystem::path& file, Bench& bench) {
  const std::size_t choice = bench.below(tables().size() + 3);  // the file itself has three turns
  return choice < tables().size() ? flip_value(file, tables()[choice], bench)
                                  : flip_byte(file, bench);
}

Answers answers(const std::filesystem::path& file, const std::vector<int>& editions) {
  Answers all;
  const std::string path = file.string();
  const char* const paths[] = {path.c_str()};
  const auto platform = stored::described(stored::platform());
  ovt_database* database = nullptr;
  all.opened = ovt_open(paths, 1, &platform, &database);
  if (all.opened != OVT_OK) return all;
  for (int i = 0; i < kWinners; ++i) {
    const ovt_problem problem = stored::problem(i + 1);
    ovt_answer answer;
    answer.size = sizeof answer;
    if (ovt_query(database, &problem, OVT_GRAPH, &answer) != OVT_OK) {
      all.wrong = fmt::format("no answer for m = {}: {}", i + 1, ovt_last_error());
    } else if (answer.source == OVT_EXACT) {
      ++all.exact;
      if (std::none_of(editions.begin(), editions.end(),
                       [&](int version) { return equal(answer, stored::winner(i, version)); })) {
        all.wrong = fmt::format("a wrong exact answer for m = {}", i + 1);
      }
    }
  }
  ovt_close(database);
  return all;
}

}  // namespace overlaptune::soak
