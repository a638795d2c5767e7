#include "planning/sequences/search/buckets.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

/// The fewest tokens that any cut of the runs into `most` buckets adds: every cut is tried.
std::int64_t fewest_added(const std::vector<Run>& runs, std::size_t from, int most) {
  if (from == runs.size()) return 0;
  if (most == 0) return std::numeric_limits<std::int64_t>::max() / 2;
  std::int64_t best = std::numeric_limits<std::int64_t>::max() / 2;
  std::int64_t added = 0;
  for (std::size_t to = from; to < runs.size(); ++to) {
    added += (runs[from].length - runs[to].length) * runs[to].count;
    best = std::min(best, added + fewest_added(runs, to + 1, most - 1));
  }
  return best;
}

TEST(Buckets, add_the_fewest_tokens) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::int64_t> lengths(1 + random() % 30);
    for (auto& length : lengths) length = 1 + static_cast<std::int64_t>(random() % 15) * 7;
    const auto runs = runs_of(lengths);
    const int most = 1 + static_cast<int>(random() % 5);
    const Buckets made = bucketed(runs, most);
    EXPECT_LE(made.runs.size(), static_cast<std::size_t>(most));
    EXPECT_EQ(made.added_tokens, fewest_added(runs, 0, most));
    std::int64_t tokens = 0;
    int count = 0;
    for (const auto& run : made.runs) {
      tokens += run.length * run.count;
      count += run.count;
    }
    for (const std::int64_t length : lengths) tokens -= length;
    EXPECT_EQ(tokens, made.added_tokens);
    EXPECT_EQ(count, static_cast<int>(lengths.size()));
  }
}

TEST(Buckets, of_two_parts_add_less_than_even_intervals) {
  // FlexSP (figure 8) has 1.1 % for buckets by dynamic programming and 15 % for even intervals.
  std::vector<std::int64_t> lengths = wikipedia_lengths(512, 11);
  for (auto& length : lengths) length = (std::min<std::int64_t>(length, 196'608) + 127) / 128 * 128;
  std::int64_t tokens = 0;
  std::int64_t longest = 0;
  for (const auto length : lengths) {
    tokens += length;
    longest = std::max(longest, length);
  }
  std::int64_t even = 0;
  for (const auto length : lengths) {
    even += (length * 16 + longest - 1) / longest * longest / 16 - length;
  }
  const Buckets made = cut_and_bucketed(runs_of(lengths), 2, 16);
  EXPECT_LT(static_cast<double>(made.added_tokens), 0.023 * static_cast<double>(tokens));
  EXPECT_GT(static_cast<double>(even), 0.1 * static_cast<double>(tokens));
}

TEST(Buckets, a_cut_keeps_every_sequence) {
  const std::vector<overlaptune::Run> runs{{100, 3}, {10, 5}, {1, 100}};
  for (int parts = 1; parts <= 9; ++parts) {
    int count = 0;
    for (const auto& run : cut_and_bucketed(runs, parts, 16).runs) count += run.count;
    EXPECT_EQ(count, 108) << parts << " parts";
  }
}

}  // namespace
}  // namespace overlaptune
