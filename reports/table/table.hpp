#pragma once
// A table of values, and its three forms: Markdown, CSV and JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune {

using OrderedJson = nlohmann::ordered_json;

/// A value in a table. `monostate` and NaN mean "does not apply": `-` in Markdown, empty in CSV,
/// null in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// A cell with the value, or an empty one.
template <class T>
[[nodiscard]] Cell cell(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell();
}

struct Column {
  std::string name;  ///< with its unit: `time_us`
  int digits = 1;    ///< decimals in Markdown; CSV and JSON have every digit
};

struct Table {
  std::string name;
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  ///< each as long as `columns`
};

/// A Markdown table that is also aligned as plain text; numbers are aligned to the right.
[[nodiscard]] std::string to_markdown(const Table& table);

/// The table as CSV with a header line, quoted as RFC 4180 says.
[[nodiscard]] std::string to_csv(const Table& table);

/// An array with one object for each row.
[[nodiscard]] OrderedJson to_json_rows(const Table& table);

}  // namespace overlaptune
