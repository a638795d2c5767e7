#pragma once
// A table of values, and its three forms.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune {

using OrderedJson = nlohmann::ordered_json;

/// `monostate` and NaN stand for "does not apply": `-` for people, empty in CSV, null in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// The value, or nothing.
template <class T>
[[nodiscard]] Cell cell(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell();
}

struct Column {
  std::string name;  ///< with its unit: `time_us`
  int digits = 1;    ///< decimals for people; CSV and JSON hold every digit
};

struct Table {
  std::string name;
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  ///< each as long as `columns`
};

/// A Markdown table that is also aligned as plain text; numbers stand to the right.
[[nodiscard]] std::string to_markdown(const Table& table);

/// With a header line; quoted as RFC 4180 says.
[[nodiscard]] std::string to_csv(const Table& table);

/// An array with one object a row.
[[nodiscard]] OrderedJson to_json_rows(const Table& table);

}  // namespace overlaptune
