#include "planner/buckets.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;

/// One row of the table: `next[j]` is the least excess of runs 0..j-1 in one bucket more than
/// `before` has, and `cut[j]` where the last bucket begins.
struct Row {
  std::span<const Run> runs;
  std::span<const std::int64_t> counts;  ///< of sequences, before each run
  std::span<const std::int64_t> tokens;
  std::span<const std::int64_t> before;
  std::span<std::int64_t> next;
  std::span<int> cut;

  [[nodiscard]] std::int64_t excess(std::size_t from, std::size_t to) const {
    return runs[from].length * (counts[to] - counts[from]) - (tokens[to] - tokens[from]);
  }

  /// Fills columns low..high, whose best cuts lie in least..most.
  void fill(int low, int high, int least, int most) const {
    if (low > high) return;
    const int middle = (low + high) / 2;
    const auto column = static_cast<std::size_t>(middle);
    next[column] = kNever;
    for (int i = least; i <= std::min(most, middle - 1); ++i) {
      const auto from = static_cast<std::size_t>(i);
      const std::int64_t total = before[from] + excess(from, column);
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
  Buckets made{.excess_tokens = before[n]};
  for (std::size_t end = n, bucket = cuts.size(); end > 0; --bucket) {
    const auto from = static_cast<std::size_t>(cuts[bucket - 1][end]);
    made.runs.push_back({there[from].length, static_cast<int>(count[end] - count[from])});
    end = from;
  }
  std::reverse(made.runs.begin(), made.runs.end());
  return made;
}

}  // namespace overlaptune
