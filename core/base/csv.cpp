#include "core/base/csv.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kEnds = ",\n";

/// Takes cells from the front of a text.
class Cells {
 public:
  Cells(std::string_view text, std::string_view origin) : left_(text), origin_(origin) {}

  /// Skips blank lines and comments. Whether a row follows.
  bool find_row() {
    while (!left_.empty()) {
      const std::string_view line = left_.substr(0, left_.find('\n'));
      if (line.find_first_not_of(kBlanks) != std::string_view::npos && line.front() != '#') {
        return true;
      }
      left_.remove_prefix(std::min(line.size() + 1, left_.size()));
      ++line_;
    }
    return false;
  }

  /// Takes the row at the front.
  Expected<void> take(CsvRow& row) {
    row.line = line_;
    row.cells.clear();
    for (bool more = true; more;) {
      skip_blanks();
      auto cell = left_.starts_with('"') ? quoted() : plain();
      if (!cell) return error_of(cell);
      row.cells.push_back(std::move(*cell));
      more = left_.starts_with(',');
      if (!more && !left_.empty()) ++line_;
      if (!left_.empty()) left_.remove_prefix(1);
    }
    return {};
  }

 private:
  Expected<std::string> plain() {
    const std::string_view cell = left_.substr(0, left_.find_first_of(kEnds));
    if (cell.find('"') != std::string_view::npos) {
      return fail(line_, "a quote within a cell: expected quotes around the whole cell");
    }
    left_.remove_prefix(cell.size());
    return std::string(cell.substr(0, cell.find_last_not_of(kBlanks) + 1));
  }

  Expected<std::string> quoted() {
    const std::size_t first = line_;
    std::string cell;
    for (bool open = true; open;) {
      left_.remove_prefix(1);
      const std::size_t quote = left_.find('"');
      if (quote == std::string_view::npos) return fail(first, "a quote that is not closed");
      const std::string_view part = left_.substr(0, quote);
      cell += part;
      line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      left_.remove_prefix(quote + 1);
      open = left_.starts_with('"');  // two quotes are one within the cell
      if (open) cell += '"';
    }
    skip_blanks();
    if (left_.empty() || kEnds.find(left_.front()) != std::string_view::npos) return cell;
    return fail(line_, "text behind a cell in quotes: expected a comma or the end of the line");
  }

  void skip_blanks() {
    left_.remove_prefix(std::min(left_.find_first_not_of(kBlanks), left_.size()));
  }

  [[nodiscard]] Expected<std::string> fail(std::size_t line, std::string_view why) const {
    return bad_input(fmt::format("{}: line {}: {}", origin_, line, why));
  }

  std::string_view left_;
  std::string_view origin_;
  std::size_t line_ = 1;
};

}  // namespace

Expected<void> read_csv(std::string_view text, std::string_view origin,
                        const std::function<Expected<void>(const CsvRow&)>& visit) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Cells cells(text, origin);
  CsvRow row;
  while (cells.find_row()) {
    if (const auto taken = cells.take(row); !taken) return error_of(taken);
    if (const auto visited = visit(row); !visited) return error_of(visited);
  }
  return {};
}

}  // namespace overlaptune
