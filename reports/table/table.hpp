#pragma once
// A table of values, and its three forms: Markdown, CSV and JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/names.hpp"
#include "core/base/units.hpp"

namespace overlaptune {

using OrderedJson = nlohmann::ordered_json;

/// A value in a table. `monostate` and NaN mean "does not apply": `-` in Markdown, empty in CSV,
/// null in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// A cell with the value: of an enumerator its name, of a time its microseconds.
template <class T>
[[nodiscard]] Cell cell(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_same_v<T, Microseconds>) {
    return value.count();
  } else if constexpr (std::is_same_v<T, int>) {
    return std::int64_t{value};
  } else {
    return value;
  }
}
/// A cell with the value, or an empty one.
template <class T>
[[nodiscard]] Cell cell(const std::optional<T>& value) {
  return value ? cell(*value) : Cell();
}

/// A part of a value that may be absent.
template <class T, class Whole>
[[nodiscard]] std::optional<T> part_of(const std::optional<Whole>& whole, T Whole::*field) {
  return whole ? std::optional((*whole).*field) : std::nullopt;
}

struct Column {
  std::string name;  ///< with its unit: `time_us`
  int digits = 1;    ///< decimals in Markdown; CSV and JSON have every digit
};

/// The columns of a list as "platform, time_us, speedup:3": names, and digits where they are not 1.
[[nodiscard]] std::vector<Column> columns_of(std::string_view list);

struct Table {
  std::string name;
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  ///< each as long as `columns`
};

/// The table with one more column at its end, which has the value in each row.
[[nodiscard]] Table with_column(Table table, const std::string& name, const Cell& value);

/// A Markdown table that is also aligned as plain text; numbers are aligned to the right.
[[nodiscard]] std::string to_markdown(const Table& table);

/// The table as CSV with a header line, quoted as RFC 4180 says.
[[nodiscard]] std::string to_csv(const Table& table);

/// An array with one object for each row.
[[nodiscard]] OrderedJson to_json_rows(const Table& table);

}  // namespace overlaptune
