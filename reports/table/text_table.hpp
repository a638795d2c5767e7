#pragma once
// A table as lines of text: Markdown that is also aligned for people.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overlaptune {

/// Cells are Markdown: a `|` in them stands as `\|`.
struct TextTable {
  std::vector<std::string> names{};
  std::vector<bool> numeric{};                   ///< columns that are aligned to the right
  std::vector<std::vector<std::string>> rows{};  ///< each as long as `names`
};

/// The columns of a terminal that a text without line ends takes: its code points, so that signs
/// such as µ do not shift what follows.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// The width of each column of the table, at least 3.
[[nodiscard]] std::vector<std::size_t> column_widths(const TextTable& table);

/// The width of each of its lines.
[[nodiscard]] std::size_t width_of(const TextTable& table);

/// The text to which blanks are added up to `size` columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t size, bool to_the_right);

/// A line for the names, one for the alignment, and one for each row.
[[nodiscard]] std::string to_text(const TextTable& table);

/// The table of such lines, without line ends; none if they are not a table.
[[nodiscard]] std::optional<TextTable> table_of(const std::vector<std::string_view>& lines);

}  // namespace overlaptune
