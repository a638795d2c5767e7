#pragma once
// Where figures come from: every line with a figure of a simulated machine says so.

#include <string>
#include <string_view>

#include "core/platform.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

/// " (simulated)" for a simulated machine, to end a line with figures; else nothing.
[[nodiscard]] std::string_view simulated_mark(const Platform& platform);

/// The table with the column `machine` at its end, which has the full name in each row.
[[nodiscard]] Table with_machine(Table table, const Platform& platform);

/// Adds `full_name` ("sim:h200-nvlink-x8") and `simulated` to the fields of a JSON document.
void add_origin(OrderedJson& document, const Platform& platform);

}  // namespace overlaptune::cli
