#include "reports/table/fitted.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/table/text_table.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kNarrowest = 40;
/// Numbers of a list that is shortened. Shorter ones are sizes of a problem.
constexpr std::size_t kShortList = 4;
/// The first words of the columns for which tables are read, the most wanted first. All others are
/// left out before these.
constexpr std::array<std::string_view, 25> kWanted{
    "problem",   "operation",      "time",        "of",         "op",
    "picked",    "pays",           "parallelism", "tokens",     "speedup",
    "measured",  "measured_us",    "here_us",     "overlapped", "scheduled",
    "strategy",  "change_percent", "product",     "answer",     "verdict",
    "predicted", "predicted_us",   "there_us",    "sequential", "saved"};
/// A table with fewer columns becomes lists: one that is left out would be missed.
constexpr std::size_t kFewColumns = 5;

/// The place of a column among the wanted ones, from 0; `kWanted.size()` for the others.
std::size_t place_of(std::string_view name) {
  const auto word = name.substr(0, name.find(' '));
  return static_cast<std::size_t>(std::find(kWanted.begin(), kWanted.end(), word) -
                                  kWanted.begin());
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The numbers of a list that begins at the front of a text, as `128,128,96` or `128+128+96`.
struct NumberList {
  std::vector<std::string_view> numbers{};
  char separator = ',';
  std::size_t size = 0;  ///< of its text
};

NumberList list_at_front(std::string_view text) {
  NumberList list;
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    list.numbers.push_back(text.substr(begin, at - begin));
    list.size = at;
    if (list.numbers.size() == 1 && at < text.size()) list.separator = text[at];
    if (at == text.size() || text[at] != list.separator) break;
    if (list.separator != ',' && list.separator != '+') break;
    ++at;
  }
  return list;
}

std::string in_runs(const NumberList& list) {
  std::string text;
  for (auto begin = list.numbers.begin(); begin != list.numbers.end();) {
    const auto end = std::find_if(begin, list.numbers.end(),
                                  [&](std::string_view number) { return number != *begin; });
    if (!text.empty()) text += list.separator;
    text += *begin;
    if (end - begin > 1) text += fmt::format("×{}", end - begin);
    begin = end;
  }
  return text;
}

std::string shortened(std::string_view cell) {
  std::string text;
  while (!cell.empty()) {
    const NumberList list = list_at_front(cell);
    const std::size_t taken = std::max<std::size_t>(1, list.size);
    text += list.numbers.size() >= kShortList ? in_runs(list) : std::string(cell.substr(0, taken));
    cell.remove_prefix(taken);
  }
  return text;
}

/// The first letters of a text that fit `columns`, as bytes.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t letters = 0; bytes < text.size(); ++bytes) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80U && letters++ == columns) break;
  }
  return bytes;
}

/// Where to break a text that is too wide: behind the last blank or comma that fits.
std::size_t break_of(std::string_view text, std::size_t columns) {
  const std::size_t most = bytes_of_columns(text, columns);
  // A blank at the break itself is dropped.
  const std::size_t blank = text.substr(0, most + 1).rfind(' ');
  if (blank != text.npos && text.find_first_not_of(' ') < blank) return blank + 1;
  const std::size_t comma = text.substr(0, most).rfind(',');
  return comma != text.npos && comma > 0 ? comma + 1 : most;
}

/// A line as lines that fit; those behind the first one are indented by `indent`.
std::string wrapped(std::string_view line, std::size_t columns, std::size_t indent) {
  std::string text;
  std::size_t room = columns;
  while (width_of(line) > room) {
    const std::size_t end = break_of(line, room);
    const auto part = line.substr(0, end);
    text += part.substr(0, part.find_last_not_of(' ') + 1);
    text += '\n' + std::string(indent, ' ');
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    room = columns - indent;
  }
  return text + std::string(line) + '\n';
}

void remove_column(TextTable& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.names.erase(table.names.begin() + at);
  table.numeric.erase(table.numeric.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

/// Takes the columns out that are the same in all rows; returns "launch graph, machine …".
std::string lift_equal_columns(TextTable& table) {
  std::vector<std::string> lifted;
  for (std::size_t c = table.names.size(); c-- > 1;) {
    const bool same = std::all_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return row[c] == table.rows.front()[c]; });
    if (!same) continue;
    lifted.push_back(table.names[c] + ' ' + table.rows.front()[c]);
    remove_column(table, c);
  }
  std::reverse(lifted.begin(), lifted.end());
  return fmt::format("{}", fmt::join(lifted, ", "));
}

/// The column that is missed least, never the first one. Of those that no table is read for it is
/// the widest.
std::size_t least_wanted(const TextTable& table) {
  const auto widths = column_widths(table);
  const auto place = [&](std::size_t column) {
    return std::pair(place_of(table.names[column]), widths[column]);
  };
  std::size_t least = 1;
  for (std::size_t c = 2; c < widths.size(); ++c) {
    if (place(c) >= place(least)) least = c;
  }
  return least;
}

std::vector<std::string> leave_out(TextTable& table, std::size_t columns) {
  std::vector<std::string> names;
  while (width_of(table) > columns && table.names.size() > 2) {
    const std::size_t column = least_wanted(table);
    names.push_back(table.names[column]);
    remove_column(table, column);
  }
  return names;
}

/// The values of each row, a line each.
std::string as_lists(const TextTable& table, std::size_t columns) {
  std::size_t name_width = 0;
  for (const std::string& name : table.names) name_width = std::max(name_width, width_of(name));
  name_width = std::min(name_width, columns / 2);
  std::string text;
  for (const auto& row : table.rows) {
    if (!text.empty()) text += '\n';
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += wrapped(padded(table.names[c], name_width, false) + "  " + row[c], columns,
                      name_width + 2);
    }
  }
  return text;
}

std::string fitted_table(TextTable table, std::size_t columns) {
  for (auto& row : table.rows) {
    for (std::string& cell : row) cell = shortened(cell);
  }
  if (width_of(table) <= columns) return to_text(table);
  if (table.rows.size() == 1 || table.names.size() < kFewColumns) return as_lists(table, columns);
  std::string text;
  if (!table.rows.empty()) {
    const std::string equal = lift_equal_columns(table);
    if (!equal.empty()) text = wrapped("All rows: " + equal, columns, 2);
  }
  const auto left_out = leave_out(table, columns);
  text += width_of(table) <= columns ? to_text(table) : as_lists(table, columns);
  if (!left_out.empty()) {
    text += wrapped(
        fmt::format("Not shown at this width (--wide shows all): {}", fmt::join(left_out, ", ")),
        columns, 2);
  }
  return text;
}

/// Where a line goes on that is broken: under the second column of `name  value`, else two blanks
/// further to the right than it begins.
std::size_t indent_of(std::string_view line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  const std::size_t value = gap == line.npos ? line.npos : line.find_first_not_of(' ', gap);
  if (value != line.npos && width_of(line.substr(0, value)) <= columns / 2) {
    return width_of(line.substr(0, value));
  }
  return std::min(begin + 2, columns / 2);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns) {
  columns = std::max(columns, kNarrowest);
  const auto lines = lines_of(text);
  std::string result;
  for (auto line = lines.begin(); line != lines.end();) {
    const auto end = std::find_if(line, lines.end(),
                                  [](std::string_view each) { return !each.starts_with('|'); });
    const auto table = table_of({line, end});
    if (!table) {
      result += wrapped(*line, columns, indent_of(*line, columns));
      ++line;
      continue;
    }
    const bool fits = width_of(*table) <= columns;
    for (; fits && line != end; ++line) result += std::string(*line) + '\n';
    if (!fits) result += fitted_table(*table, columns);
    line = end;
  }
  return result;
}

}  // namespace overlaptune
