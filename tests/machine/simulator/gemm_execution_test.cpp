#include "machine/simulator/gemm_execution.hpp"

#include <functional>
#include <queue>

#include <gtest/gtest.h>

#include "tests/machine/simulator/built_in.hpp"

namespace overlaptune::sim {
namespace {

/// Every tile of the order, walked by its definition, with the time of its kind.
std::vector<double> tiles_one_by_one(const TileOrder& order, const TileTimes& times) {
  std::vector<double> tiles;
  const std::int64_t panels = order.panels_per_block();
  for (std::int64_t first = 0; first < panels; first += order.swizzle) {
    for (std::int64_t column = 0; column < order.columns(); ++column) {
      for (std::int64_t panel = first; panel < std::min(panels, first + order.swizzle); ++panel) {
        for (int block = 0; block < order.blocks; ++block) {
          const bool bottom = panel == panels - 1;
          const bool right = column == order.columns() - 1;
          tiles.push_back(bottom ? (right ? times.corner : times.bottom)
                                 : (right ? times.right : times.whole));
        }
      }
    }
  }
  return tiles;
}

/// The end of each group if free SMs take the tiles in order, by the standard library's queue.
std::vector<double> by_queue(const std::vector<double>& tiles, int sms, double start,
                             const std::vector<std::int64_t>& ends) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int i = 0; i < sms; ++i) free.push(start);
  std::vector<double> group_ends;
  std::size_t next = 0;
  for (const std::int64_t last : ends) {
    double end = 0;
    for (; next < static_cast<std::size_t>(last); ++next) {
      const double done = free.top() + tiles[next];
      free.pop();
      free.push(done);
      end = std::max(end, done);
    }
    group_ends.push_back(end);
  }
  return group_ends;
}

TEST(GemmExecution, agrees_with_a_priority_queue_over_all_tiles) {
  const Noise noise(11);
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    const auto pick = [&](std::uint64_t what, int least, int most) {
      return least + static_cast<int>(noise.stream(trial).uniform(what) * (most - least + 1));
    };
    const GemmKernel kernel{.order = {.block_rows = pick(0, 1, 900),
                                      .n = pick(1, 1, 900),
                                      .blocks = pick(2, 1, 4),
                                      .block_m = 64,
                                      .block_n = 32,
                                      .swizzle = pick(3, 1, 5)},
                            .sms = pick(4, 1, 132)};
    const TileTimes times{
        .whole = 7, .right = 6.5, .bottom = 6, .corner = 5.25, .kernel_start = 1.5};
    const std::vector<double> tiles = tiles_one_by_one(kernel.order, times);
    ASSERT_EQ(static_cast<std::int64_t>(tiles.size()), kernel.order.tiles());
    std::vector<std::int64_t> ends;
    for (std::int64_t end = pick(5, 1, 50); end < kernel.order.tiles(); end += pick(6, 1, 200)) {
      ends.push_back(end);
    }
    ends.push_back(kernel.order.tiles());
    const std::vector<double> expected = by_queue(tiles, kernel.sms, times.kernel_start, ends);
    const std::vector<double> found = execute(tile_schedule(kernel, times, ends), 0, noise);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_DOUBLE_EQ(found[i], expected[i]);
  }
}

TEST(GemmExecution, spread_lengthens_a_single_wave_by_its_slowest_tile) {
  const TileOrder order{
      .block_rows = 128 * 132, .n = 128, .blocks = 1, .block_m = 128, .block_n = 128, .swizzle = 1};
  const TileTimes times{.whole = 10, .right = 10, .bottom = 10, .corner = 10};
  const std::vector<std::int64_t> ends{132};
  const TileSchedule schedule = tile_schedule({.order = order, .sms = 132}, times, ends);
  // The expected maximum of 132 normal numbers is 2.6 standard deviations; the simulator's numbers
  // have lighter tails.
  double sum = 0;
  for (std::uint64_t i = 0; i < 200; ++i) sum += execute(schedule, 0.02, Noise(i)).front();
  const double deviations = (sum / 200 / 10 - 1) / 0.02;
  EXPECT_GT(deviations, 2.3);
  EXPECT_LT(deviations, 2.6);
}

TEST(TileTimes, two_ctas_share_a_tile_where_sms_are_left_and_the_kernel_lets_them) {
  const Profile profile =
      value_or_throw(parse_profile(test::built_in("h200-nvlink-x8"), "built in"));
  GemmKernel kernel{.order = {.block_rows = 1024, .n = 1280, .block_m = 128, .block_n = 256},
                    .k = 8192,
                    .tile = {128, 256, 64, 4, 1},
                    .sms = 132};
  EXPECT_EQ(ctas_of_tile(profile, kernel), 2);
  const double shared = tile_times(profile, kernel).whole;
  kernel.shares_tiles = false;
  EXPECT_EQ(ctas_of_tile(profile, kernel), 1);
  EXPECT_GT(tile_times(profile, kernel).whole / shared, 1.4);
  EXPECT_LT(tile_times(profile, kernel).whole / shared, 2.1);
}

}  // namespace
}  // namespace overlaptune::sim
