#include "planning/whatif/measured_rows.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr std::size_t kShown = 40;

/// Whether a text has the lines of nccl-tests: a heading with its threads, or with the names of its
/// columns, which commas would make CSV.
bool is_test_log(std::string_view text) {
  if (text.find("nThread") != std::string_view::npos) return true;
  const std::size_t name = text.find("algbw");
  if (name == std::string_view::npos) return false;
  const std::size_t begin = text.rfind('\n', name) + 1;  // 0 where there is none
  return text.substr(begin, text.find('\n', name) - begin).find(',') == std::string_view::npos;
}

/// Whether a text is an object, or a list of objects; a log may begin with the list of a prefix.
bool is_json(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || text[first] != '[') {
    return first != std::string_view::npos && text[first] == '{';
  }
  const std::size_t second = text.find_first_not_of(kBlanks, first + 1);
  return second != std::string_view::npos && text[second] == '{';
}

void check_ascending(const Rows& rows) {
  std::map<std::pair<Operation, int>, double> last;
  for (const MeasuredRow& row : rows) {
    double& before = last[{row.operation, row.gpus}];
    if (row.bytes <= before) {
      fail_at(
          row.place,
          fmt::format("{} bytes of {} on {} GPUs after {}: expected ascending bytes, each once, "
                      "of one machine and setting",
                      row.bytes, to_string(row.operation), row.gpus, before));
    }
    before = row.bytes;
  }
}

}  // namespace

double number(std::string_view text) {
  return parsed<double>(text).value_or(std::nan(""));
}

double bytes_of(const std::string& text) {
  const double plain = number(text);
  if (!std::isnan(plain)) return plain;
  const auto size = parse_bytes(text);
  return size ? static_cast<double>(*size) : plain;
}

std::optional<int> whole(std::string_view text, int least, int most) {
  const auto value = parsed<int>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::string shown(std::string_view text) {
  return printable(text.substr(0, kShown));
}

double known_rate(double gb_per_s) {
  return std::isfinite(gb_per_s) && gb_per_s > 0 ? gb_per_s : 0;
}

double bus_share(double algbw, double busbw) {
  constexpr double kLeast = 1;  // GB/s, of which two decimals are printed
  return algbw >= kLeast && busbw > 0 ? busbw / algbw : 0;
}

void fail_at(const std::string& place, std::string_view message) {
  throw Failure(ErrorKind::bad_input, fmt::format("{}: {}", place, message));
}

void check_wrong(std::string_view count, const std::string& place) {
  if (count.empty() || count == "N/A" || number(count) == 0) return;
  fail_at(place, fmt::format("#wrong is {}: expected 0: wrong results have no time", shown(count)));
}

Expected<std::vector<MeasuredRow>> parse_rows(std::string_view text, const std::string& origin,
                                              Operation asked) {
  return outcome_of([&] {
    Rows rows = is_json(text)       ? parse_test_json(text, origin, asked)
                : is_test_log(text) ? parse_test_log(text, origin, asked)
                                    : parse_row_csv(text, origin);
    check_ascending(rows);
    return rows;
  });
}

}  // namespace overlaptune::cluster
