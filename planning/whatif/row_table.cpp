// Measured rows of named columns: CSV, and the lists of rccl-tests.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/csv.hpp"
#include "core/base/text.hpp"
#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kMostBytes = 1e18;
constexpr double kMostUs = 1e12;

/// An op by its name here or in rccl-tests: "AllReduce".
Expected<Operation> operation_of(const std::string& name) {
  constexpr std::pair<std::string_view, Operation> kNames[] = {
      {"allreduce", Operation::all_reduce},
      {"reducescatter", Operation::reduce_scatter},
      {"allgather", Operation::all_gather},
      {"alltoall", Operation::all_to_all},
      {"sendrecv", Operation::send}};
  for (const auto& [known, operation] : kNames) {
    if (lower_case(name) == known) return operation;
  }
  return parse_name<Operation>(shown(name));
}

/// Whether a row is of the in-place time. Throws: a word that says neither.
bool is_in_place(const std::string& text, const std::string& place) {
  const std::string word = lower_case(text);
  if (word == "1" || word == "true" || word == "yes") return true;
  if (word == "0" || word == "false" || word == "no") return false;
  fail_at(place, fmt::format("inPlace = '{}': expected 0 or 1, false or true", shown(text)));
}

}  // namespace

RowTable::RowTable(const std::vector<std::string>& header, const std::string& place)
    : columns_(header.size()) {
  std::string twice;
  const auto find =
      [&](std::initializer_list<std::string_view> wanted) -> std::optional<std::size_t> {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (std::find(wanted.begin(), wanted.end(), lower_case(header[i])) == wanted.end()) continue;
      if (found && twice.empty()) {
        twice = fmt::format("columns '{}' and '{}'", shown(header[*found]), shown(header[i]));
      }
      found = i;
    }
    return found;
  };
  at_ = {.op = find({"op", "name"}),
         .gpus = find({"gpus"}),
         .ranks = find({"ranks"}),
         .gpus_per_rank = find({"gpusperrank"}),
         .bytes = find({"bytes", "size"}),
         .us = find({"us", "time_us", "µs", "time"}),
         .in_place = find({"inplace", "in_place", "in-place"}),
         .wrong = find({"#wrong", "wrong", "nwrong"}),
         .algbw = find({"algbw"}),
         .busbw = find({"busbw"})};
  if (!twice.empty()) fail_at(place, twice + ": expected one of them");
  std::vector<std::string_view> missing;
  if (!at_.op) missing.emplace_back("op");
  if (!at_.gpus && !at_.ranks) missing.emplace_back("gpus");
  if (!at_.bytes) missing.emplace_back("bytes");
  if (!at_.us) missing.emplace_back("us");
  if (missing.empty()) return;
  fail_at(place,
          fmt::format("'{}': expected a header with op, gpus, bytes and us, or the output of "
                      "nccl-tests; {} missing",
                      shown(fmt::format("{}", fmt::join(header, ","))), fmt::join(missing, ", ")));
}

int RowTable::gpus_of(const std::vector<std::string>& cells, const std::string& place) const {
  const std::string& text = cells[at_.gpus ? *at_.gpus : *at_.ranks];
  const auto gpus = whole(text, at_.gpus ? 2 : 1);
  const auto each =
      at_.gpus || !at_.gpus_per_rank ? std::optional(1) : whole(cells[*at_.gpus_per_rank], 1);
  if (gpus && each && std::int64_t{*gpus} * *each >= 2 &&
      std::int64_t{*gpus} * *each <= kMostGpus) {
    return *gpus * *each;
  }
  fail_at(place, fmt::format("{} = '{}': expected a whole number from 2 to {}",
                             at_.gpus ? "gpus" : "ranks", shown(text), kMostGpus));
}

std::optional<MeasuredRow> RowTable::row(const std::vector<std::string>& cells,
                                         const std::string& place) const {
  if (cells.size() != columns_) {
    fail_at(place, fmt::format("{} columns: expected {} as in line 1", cells.size(), columns_));
  }
  // In-place results of the same test that are wrong make its other times doubtful.
  if (at_.wrong) check_wrong(cells[*at_.wrong], place);
  if (at_.in_place && is_in_place(cells[*at_.in_place], place)) return std::nullopt;
  const auto operation = operation_of(cells[*at_.op]);
  if (!operation) fail_at(place, operation.error().message);
  const int gpus = gpus_of(cells, place);
  const double bytes = bytes_of(cells[*at_.bytes]);
  const double us = number(cells[*at_.us]);
  const auto check = [&](const char* name, double value, std::size_t column, double most) {
    if (value > 0 && value <= most) return;
    fail_at(place, fmt::format("{} = '{}': expected a number above 0 and at most {:g}", name,
                               shown(cells[column]), most));
  };
  check("bytes", bytes, *at_.bytes, kMostBytes);
  check("us", us, *at_.us, kMostUs);
  const double algbw = at_.algbw ? number(cells[*at_.algbw]) : 0;
  const double share = at_.busbw ? bus_share(algbw, number(cells[*at_.busbw])) : 0;
  return MeasuredRow{*operation, gpus, bytes, us, place, share, {}, known_rate(algbw), 0};
}

Rows parse_row_csv(std::string_view text, const std::string& origin) {
  std::optional<RowTable> table;
  Rows rows;
  value_or_throw(read_csv(text, origin, [&](const CsvRow& each) -> Expected<void> {
    const std::string place = fmt::format("{}: line {}", origin, each.line);
    if (!table) {
      table.emplace(each.cells, place);
    } else if (const auto row = table->row(each.cells, place)) {
      rows.push_back(*row);
    }
    return {};
  }));
  if (rows.empty()) fail_at(origin, "no measured rows: expected op,gpus,bytes,us");
  return rows;
}

}  // namespace overlaptune::cluster
