#include "cluster/measured_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "core/printable.hpp"

namespace overlaptune::cluster {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kShown = 40;
constexpr int kMostGpus = 1 << 20;
constexpr double kMostBytes = 1e18;
constexpr double kMostUs = 1e12;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  for (;;) {
    const std::size_t comma = line.find(',', from);
    cells.emplace_back(trimmed(line.substr(from, comma - from)));
    if (comma == std::string_view::npos) return cells;
    from = comma + 1;
  }
}

/// NaN where the text is no number.
double number(std::string_view text) {
  double value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && rest == text.data() + text.size() ? value : std::nan("");
}

std::string shown(std::string_view text) {
  return printable(std::string(text.substr(0, kShown)));
}

/// Where a CSV has each figure.
struct Header {
  std::size_t op = 0, gpus = 0, bytes = 0, us = 0;
  std::size_t columns = 0;
};

Expected<Header> header_of(const std::vector<std::string>& names, const std::string& origin) {
  const auto find = [&](std::initializer_list<std::string_view> wanted) {
    for (const std::string_view name : wanted) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    }
    return names.size();
  };
  const Header header{.op = find({"op"}),
                      .gpus = find({"gpus"}),
                      .bytes = find({"bytes"}),
                      .us = find({"us", "time_us", "µs"}),
                      .columns = names.size()};
  if (std::max({header.op, header.gpus, header.bytes, header.us}) == names.size()) {
    return bad_input(fmt::format(
        "{}: line 1: '{}': expected a header with op, gpus, bytes and us, or the output of "
        "nccl-tests",
        origin, shown(names.front())));
  }
  return header;
}

Expected<MeasuredRow> row_of(const std::vector<std::string>& cells, const Header& header,
                             const std::string& place) {
  if (cells.size() != header.columns) {
    return bad_input(fmt::format("{}: {} columns: expected {} as in line 1", place, cells.size(),
                                 header.columns));
  }
  const auto operation = parse_name<Operation>(shown(cells[header.op]));
  if (!operation) return bad_input(place + ": " + operation.error().message);
  const double gpus = number(cells[header.gpus]);
  if (!(gpus >= 2 && gpus <= kMostGpus && gpus == std::floor(gpus))) {
    return bad_input(fmt::format("{}: gpus = '{}': expected a whole number of at least 2", place,
                                 shown(cells[header.gpus])));
  }
  const auto positive = [&](std::size_t column, const char* name, double most) -> Expected<double> {
    const double value = number(cells[column]);
    if (value > 0 && value <= most) return value;
    return bad_input(
        fmt::format("{}: {} = '{}': expected a number above 0", place, name, shown(cells[column])));
  };
  const auto bytes = positive(header.bytes, "bytes", kMostBytes);
  if (!bytes) return error_of(bytes);
  const auto us = positive(header.us, "us", kMostUs);
  if (!us) return error_of(us);
  return MeasuredRow{*operation, static_cast<int>(gpus), *bytes, *us};
}

}  // namespace

Expected<void> check_rows(const std::vector<MeasuredRow>& rows,
                          const std::vector<std::string>& places) {
  std::map<std::pair<Operation, int>, double> last;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double& before = last[{rows[i].operation, rows[i].gpus}];
    if (rows[i].bytes <= before) {
      return bad_input(fmt::format(
          "{}: {} bytes of {} on {} GPUs after {}: expected ascending bytes, each once, of one "
          "machine and setting",
          places[i], rows[i].bytes, to_string(rows[i].operation), rows[i].gpus, before));
    }
    before = rows[i].bytes;
  }
  return {};
}

Expected<std::vector<MeasuredRow>> parse_rows(std::string_view text, const std::string& origin,
                                              Operation asked) {
  if (is_nccl_tests(text)) return parse_nccl_tests(text, origin, asked);
  std::istringstream lines{std::string(text)};
  std::optional<Header> header;
  std::vector<MeasuredRow> rows;
  std::vector<std::string> places;
  std::string line;
  for (int at = 1; std::getline(lines, line); ++at) {
    if (trimmed(line).empty() || line.front() == '#') continue;
    const auto cells = cells_of(line);
    if (!header) {
      const auto found = header_of(cells, origin);
      if (!found) return error_of(found);
      header = *found;
      continue;
    }
    places.push_back(fmt::format("{}: line {}", origin, at));
    const auto row = row_of(cells, *header, places.back());
    if (!row) return error_of(row);
    rows.push_back(*row);
  }
  if (rows.empty()) return bad_input(origin + ": no measured rows: expected op,gpus,bytes,us");
  if (const auto good = check_rows(rows, places); !good) return error_of(good);
  return rows;
}

}  // namespace overlaptune::cluster
