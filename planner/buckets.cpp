#include "planner/buckets.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;

/// One row of the table: `next[j]` is the least error of runs 0..j-1 in one bucket more than
/// `before` has, and `cut[j]` where the last bucket begins.
struct Row {
  std::span<const Run> runs;
  std::span<const std::int64_t> counts;  ///< of sequences, before each run
  std::span<const std::int64_t> tokens;
  std::span<const std::int64_t> before;
  std::span<std::int64_t> next;
  std::span<int> cut;

  /// The run that holds the median sequence of runs from..to-1.
  [[nodiscard]] std::size_t median(std::size_t from, std::size_t to) const {
    const std::int64_t half = counts[from] + (counts[to] - counts[from] + 1) / 2;
    const auto at = std::lower_bound(counts.begin() + static_cast<std::ptrdiff_t>(from) + 1,
                                     counts.begin() + static_cast<std::ptrdiff_t>(to), half);
    return static_cast<std::size_t>(at - counts.begin()) - 1;
  }
  /// Sum of the distances to the median.
  [[nodiscard]] std::int64_t error(std::size_t from, std::size_t to) const {
    const std::size_t at = median(from, to);
    const std::int64_t above =
        (tokens[at] - tokens[from]) - runs[at].length * (counts[at] - counts[from]);
    const std::int64_t below =
        runs[at].length * (counts[to] - counts[at]) - (tokens[to] - tokens[at]);
    return above + below;
  }

  /// Fills columns low..high, whose best cuts lie in least..most.
  void fill(int low, int high, int least, int most) const {
    if (low > high) return;
    const int middle = (low + high) / 2;
    const auto column = static_cast<std::size_t>(middle);
    next[column] = kNever;
    for (int i = least; i <= std::min(most, middle - 1); ++i) {
      const auto from = static_cast<std::size_t>(i);
      const std::int64_t total = before[from] + error(from, column);
      if (total >= next[column]) continue;
      next[column] = total;
      cut[column] = i;
    }
    if (next[column] == kNever) cut[column] = least;
    fill(low, middle - 1, least, cut[column]);
    fill(middle + 1, high, cut[column], most);
  }
};

}  // namespace

Buckets bucketed(std::span<const Run> runs, std::span<const int> counts, int most) {
  std::vector<Run> there;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (counts[i] > 0) there.push_back({runs[i].length, counts[i]});
  }
  const std::size_t n = there.size();
  if (n <= static_cast<std::size_t>(most)) return {.runs = std::move(there)};
  std::vector<std::int64_t> count(n + 1, 0);
  std::vector<std::int64_t> tokens(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    count[i + 1] = count[i] + there[i].count;
    tokens[i + 1] = tokens[i] + there[i].length * there[i].count;
  }
  std::vector<std::int64_t> before(n + 1, kNever);
  before[0] = 0;
  std::vector<std::int64_t> next(n + 1, kNever);
  std::vector<std::vector<int>> cuts(static_cast<std::size_t>(most), std::vector<int>(n + 1, 0));
  for (auto& cut : cuts) {
    next[0] = kNever;
    const Row row{there, count, tokens, before, next, cut};
    row.fill(1, static_cast<int>(n), 0, static_cast<int>(n) - 1);
    std::swap(before, next);
  }
  Buckets made{.error_tokens = before[n]};
  const Row sums{there, count, tokens, {}, {}, {}};
  for (std::size_t end = n, bucket = cuts.size(); end > 0; --bucket) {
    const auto from = static_cast<std::size_t>(cuts[bucket - 1][end]);
    made.runs.push_back(
        {there[sums.median(from, end)].length, static_cast<int>(count[end] - count[from])});
    end = from;
  }
  std::reverse(made.runs.begin(), made.runs.end());
  return made;
}

}  // namespace overlaptune
