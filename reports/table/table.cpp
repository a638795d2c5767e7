#include "reports/table/table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "reports/table/text_table.hpp"

namespace overlaptune {
namespace {

bool applies(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return !std::holds_alternative<std::monostate>(cell) &&
         (number == nullptr || std::isfinite(*number));
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
}

/// The text of a cell. With `digits` < 0 numbers have as many digits as it takes to read the same
/// number back.
std::string text_of(const Cell& cell, int digits) {
  if (!applies(cell)) return {};
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  const double number = std::get<double>(cell);
  return digits < 0 ? fmt::format("{}", number) : fmt::format("{:.{}f}", number, digits);
}

std::string for_people(const Cell& cell, int digits) {
  if (!applies(cell)) return "-";
  std::string text = printable(text_of(cell, digits));
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::vector<Column> columns_of(std::string_view list) {
  constexpr std::string_view kComma = ", ";
  std::vector<Column> columns;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(kComma), list.size());
    Column column{.name = std::string(list.substr(0, end))};
    if (const auto colon = column.name.find(':'); colon != column.name.npos) {
      column.digits = column.name[colon + 1] - '0';
      column.name.resize(colon);
    }
    columns.push_back(std::move(column));
    list.remove_prefix(std::min(end + kComma.size(), list.size()));
  }
  return columns;
}

Table with_column(Table table, const std::string& name, const Cell& value) {
  table.columns.push_back({name});
  for (auto& row : table.rows) row.push_back(value);
  return table;
}

std::string to_markdown(const Table& table) {
  const std::size_t columns = table.columns.size();
  TextTable text{.numeric = std::vector<bool>(columns, !table.rows.empty())};
  for (const Column& column : table.columns) text.names.push_back(column.name);
  for (const auto& row : table.rows) {
    auto& cells = text.rows.emplace_back();
    for (std::size_t c = 0; c < columns; ++c) {
      cells.push_back(for_people(row[c], table.columns[c].digits));
      text.numeric[c] = text.numeric[c] && (is_number(row[c]) || !applies(row[c]));
    }
  }
  return to_text(text);
}

std::string to_csv(const Table& table) {
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += (c == 0 ? "" : ",") + quoted(table.columns[c].name);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += (c == 0 ? "" : ",") + quoted(text_of(row[c], -1));
    }
    text += '\n';
  }
  return text;
}

OrderedJson to_json_rows(const Table& table) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : table.rows) {
    OrderedJson object = OrderedJson::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      OrderedJson& field = object[table.columns[c].name];  // null until something is assigned
      if (applies(row[c])) {
        std::visit(
            [&](const auto& value) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                field = value;
              }
            },
            row[c]);
      }
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace overlaptune
