#pragma once
// A figure of bars drawn with characters, for terminals.

#include <cstddef>
#include <string>

#include "reports/figure.hpp"

namespace overlaptune {

struct BlockStyle {
  std::size_t columns = 80;  ///< width of the longest line; at least 40 are used
  bool utf8 = true;          ///< otherwise ASCII only
  std::string mark{};        ///< ends each line with figures, as in " (simulated)"
};

/// The panels of a figure, one line for each lane: a character shows the paint that most of its
/// part of the axis has, or a blank where bars fill less than half of it. Then the ends of the
/// axis, and the legend. There are no colours.
[[nodiscard]] std::string to_blocks(const Figure& figure, const BlockStyle& style);

}  // namespace overlaptune
