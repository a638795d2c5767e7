#include "planning/sequences/search/buckets.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace overlaptune {
namespace {

constexpr std::int64_t kUnreachable = std::numeric_limits<std::int64_t>::max() / 2;

/// One row of the table: `next[j]` is the fewest tokens that runs 0..j-1 add in one bucket more
/// than `before` has, and `cut[j]` where the last bucket begins.
struct Row {
  std::span<const Run> runs;
  std::span<const std::int64_t> counts;  ///< of sequences, before each run
  std::span<const std::int64_t> tokens;
  std::span<const std::int64_t> before;
  std::span<std::int64_t> next;
  std::span<int> cut;

  [[nodiscard]] std::int64_t added(std::size_t from, std::size_t to) const {
    return runs[from].length * (counts[to] - counts[from]) - (tokens[to] - tokens[from]);
  }

  /// Fills columns low..high, whose best cuts lie in least..most.
  void fill(int low, int high, int least, int most) const {
    if (low > high) return;
    const int middle = (low + high) / 2;
    const auto column = static_cast<std::size_t>(middle);
    next[column] = kUnreachable;
    cut[column] = least;
    for (int i = least; i <= std::min(most, middle - 1); ++i) {
      const auto from = static_cast<std::size_t>(i);
      if (before[from] == kUnreachable) continue;
      const std::int64_t total = before[from] + added(from, column);
      if (total >= next[column]) continue;
      next[column] = total;
      cut[column] = i;
    }
    fill(low, middle - 1, least, cut[column]);
    fill(middle + 1, high, cut[column], most);
  }
};

}  // namespace

Buckets bucketed(std::span<const Run> runs, int most) {
  std::vector<Run> there;
  for (const Run& run : runs) {
    if (run.count > 0) there.push_back(run);
  }
  const std::size_t n = there.size();
  if (n <= static_cast<std::size_t>(most)) return {.runs = std::move(there)};
  std::vector<std::int64_t> count(n + 1, 0);
  std::vector<std::int64_t> tokens(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    count[i + 1] = count[i] + there[i].count;
    tokens[i + 1] = tokens[i] + there[i].length * there[i].count;
  }
  std::vector<std::int64_t> before(n + 1, kUnreachable);
  before[0] = 0;
  std::vector<std::int64_t> next(n + 1, kUnreachable);
  std::vector<std::vector<int>> cuts(static_cast<std::size_t>(most), std::vector<int>(n + 1, 0));
  for (auto& cut : cuts) {
    next[0] = kUnreachable;
    const Row row{there, count, tokens, before, next, cut};
    row.fill(1, static_cast<int>(n), 0, static_cast<int>(n) - 1);
    std::swap(before, next);
  }
  Buckets made{.added_tokens = before[n]};
  for (std::size_t end = n, bucket = cuts.size(); end > 0; --bucket) {
    const auto from = static_cast<std::size_t>(cuts[bucket - 1][end]);
    made.runs.push_back({there[from].length, static_cast<int>(count[end] - count[from])});
    end = from;
  }
  std::reverse(made.runs.begin(), made.runs.end());
  return made;
}

Buckets cut_and_bucketed(std::span<const Run> runs, int parts, int most) {
  std::int64_t tokens = 0;
  for (const Run& run : runs) tokens += run.length * run.count;
  Buckets made;
  std::vector<Run> part;
  std::int64_t before = 0;
  int cut = 1;
  const auto finish = [&] {
    const Buckets own = bucketed(part, most);
    made.runs.insert(made.runs.end(), own.runs.begin(), own.runs.end());
    made.added_tokens += own.added_tokens;
    part.clear();
  };
  for (Run run : runs) {
    while (cut < parts && before + run.length * run.count >= tokens / parts * cut) {
      const std::int64_t room = tokens / parts * cut - before;
      const auto taken = static_cast<int>(
          std::clamp<std::int64_t>((room + run.length - 1) / run.length, 0, run.count));
      part.push_back({run.length, taken});
      before += run.length * taken;
      run.count -= taken;
      finish();
      ++cut;
    }
    part.push_back(run);
    before += run.length * run.count;
  }
  finish();
  return made;
}

}  // namespace overlaptune
