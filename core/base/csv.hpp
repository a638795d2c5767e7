#pragma once
// Comma-separated values (RFC 4180).

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace overlaptune {

struct CsvRow {
  std::size_t line = 0;  ///< where it begins, from 1
  std::vector<std::string> cells{};
};

/// Calls `visit` with each row, the header first, until it returns an error. Cells in quotes may
/// hold commas, line ends and doubled quotes; blanks around cells are dropped. Beyond RFC 4180,
/// lines end with or without CR, and blank lines and lines that start with # are skipped. Error,
/// with `origin` and the line: a quote within a cell, text behind a quoted cell, a quote that is
/// not closed; what `visit` returned.
[[nodiscard]] Expected<void> read_csv(std::string_view text, std::string_view origin,
                                      const std::function<Expected<void>(const CsvRow&)>& visit);

}  // namespace overlaptune
