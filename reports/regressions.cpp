#include "reports/regressions.hpp"

#include <algorithm>
#include <functional>

namespace overlaptune {
namespace {

template <class Predicate>
std::vector<const ComparedWinner*> rows_of(const Comparison& comparison, Predicate is_wanted) {
  std::vector<const ComparedWinner*> rows;
  for (const ComparedWinner& row : comparison.winners) {
    if (is_wanted(row)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

std::vector<const ComparedWinner*> slower_by(const Comparison& comparison, double fraction) {
  auto slower = rows_of(comparison, [fraction](const ComparedWinner& row) {
    const auto change = relative_change(row);
    return row.change == Change::slower && change && *change > fraction;
  });
  std::ranges::stable_sort(slower, std::greater{},
                           [](const auto* row) { return *relative_change(*row); });
  return slower;
}

std::vector<const ComparedWinner*> compared(const Comparison& comparison) {
  return rows_of(comparison,
                 [](const ComparedWinner& row) { return relative_change(row).has_value(); });
}

std::vector<const ComparedWinner*> missing_here(const Comparison& comparison) {
  return rows_of(comparison, [](const ComparedWinner& row) {
    return row.there.has_value() && !relative_change(row).has_value();
  });
}

}  // namespace overlaptune
