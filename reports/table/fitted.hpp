#pragma once
// Output for people, made to fit the width of a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace overlaptune {

/// The text with no line wider than `columns` (at least 40). What is narrow enough stays as it is.
/// Other lines are broken at blanks, and inside a word only where it does not fit a line.
/// In a Markdown table that is too wide, first lists of numbers are shortened (`128,128,96` of a
/// longer list: `128×2,96`). Then columns that are the same in all rows go into a line above it.
/// Then columns are left out, which a line below names. A table of one row, or of few columns,
/// becomes a list of values for each row.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);

}  // namespace overlaptune
