#include "reports/table/text_table.hpp"

#include <algorithm>
#include <numeric>

namespace overlaptune {
namespace {

constexpr std::size_t kNarrowest = 3;  // `--:`, the line below the names

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

/// The cells of `| a | b |`; none where the line is no row.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  if (!line.starts_with('|') || !line.ends_with('|')) return cells;
  std::size_t begin = 1;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '|') {
      cells.push_back(trimmed(line.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  return cells;
}

bool is_rule(const std::string& cell) {
  return cell.size() + 1 >= kNarrowest && cell.find_first_not_of("-:") == cell.npos;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& numeric) {
  std::string line = "|";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += ' ' + padded(cells[c], widths[c], numeric[c]) + " |";
  }
  return line + '\n';
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths(table.names.size());
  for (std::size_t c = 0; c < widths.size(); ++c) {
    widths[c] = std::max(kNarrowest, width_of(table.names[c]));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  return widths;
}

std::size_t width_of(const TextTable& table) {
  const auto widths = column_widths(table);
  constexpr std::size_t kBetween = 3;  // ` | `
  return std::accumulate(widths.begin(), widths.end(), kBetween * widths.size() + 1);
}

std::string padded(std::string_view text, std::size_t size, bool to_the_right) {
  const std::string blank(size - std::min(size, width_of(text)), ' ');
  return to_the_right ? blank + std::string(text) : std::string(text) + blank;
}

std::string to_text(const TextTable& table) {
  const auto widths = column_widths(table);
  std::string text = line_of(table.names, widths, table.numeric) + "|";
  for (std::size_t c = 0; c < widths.size(); ++c) {
    text += ' ' + std::string(widths[c] - 1, '-') + (table.numeric[c] ? ": |" : "- |");
  }
  text += '\n';
  for (const auto& row : table.rows) text += line_of(row, widths, table.numeric);
  return text;
}

std::optional<TextTable> table_of(const std::vector<std::string_view>& lines) {
  if (lines.size() < 2) return std::nullopt;
  TextTable table{.names = cells_of(lines[0])};
  const auto rules = cells_of(lines[1]);
  if (table.names.empty() || rules.size() != table.names.size() ||
      !std::all_of(rules.begin(), rules.end(), is_rule)) {
    return std::nullopt;
  }
  for (const std::string& rule : rules) table.numeric.push_back(rule.ends_with(':'));
  for (std::size_t line = 2; line < lines.size(); ++line) {
    table.rows.push_back(cells_of(lines[line]));
    if (table.rows.back().size() != table.names.size()) return std::nullopt;
  }
  return table;
}

}  // namespace overlaptune
