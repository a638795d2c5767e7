#pragma once
// Where figures come from: every line with a figure of a simulated machine says so.

#include <string_view>
#include <utility>

#include "core/platform.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

/// " (simulated)" for a simulated machine, to end a line with figures; else nothing.
[[nodiscard]] inline std::string_view simulated_mark(const Platform& platform) {
  return is_simulated(platform) ? " (simulated)" : "";
}

/// The table with the column `machine` at its end, which has the full name in each row.
[[nodiscard]] inline Table with_machine(Table table, const Platform& platform) {
  return with_column(std::move(table), "machine", full_name(platform));
}

/// Adds `full_name` ("sim:h200-nvlink-x8") and `simulated` to the fields of a JSON document.
inline void add_origin(OrderedJson& document, const Platform& platform) {
  document["full_name"] = full_name(platform);
  document["simulated"] = is_simulated(platform);
}

}  // namespace overlaptune::cli
