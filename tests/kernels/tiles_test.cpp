// The tiles that a CTA computes: the GPU's own header runs here, CTA by CTA.

#include "kernels/device/tiles.cuh"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "strategies/signaled/model_gemm.hpp"

namespace overlaptune {
namespace {

namespace device = kernels::device;

/// The tiles of each CTA, in its order.
std::vector<std::vector<int>> walks(int ctas, const device::Order& order, int tiles) {
  gridDim.x = static_cast<unsigned>(ctas);
  std::vector<std::vector<int>> list;
  for (int cta = 0; cta < ctas; ++cta) {
    blockIdx.x = static_cast<unsigned>(cta);
    std::vector<int>& mine = list.emplace_back();
    for (int tile = first_tile(order); tile < tiles; tile = next_tile(order, tile)) {
      mine.push_back(tile);
    }
  }
  return list;
}

struct Case {
  int ctas = 0;
  device::Order order{};
  int tiles = 0;
};

/// All cases of a small GPU, and some of a large one.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const int ctas : {2, 3, 5, 8}) {
    for (int leaving = 0; leaving < ctas; ++leaving) {
      for (int tiles = 1; tiles <= 4 * ctas; ++tiles) {
        for (int early = 0; early <= tiles; ++early)
          list.push_back({ctas, {.early = early, .leaving = leaving}, tiles});
      }
    }
  }
  for (const int early : {0, 1, 100, 132, 133, 250, 264, 1000, 2048}) {
    for (const int leaving : {1, 4, 8, 16, 24, 64})
      list.push_back({132, {.early = early, .leaving = leaving}, 2048});
  }
  return list;
}

TEST(Tiles, each_is_computed_once_and_those_who_leave_do_early_ones_only) {
  for (const Case& c : cases()) {
    const auto tiles_of = walks(c.ctas, c.order, c.tiles);
    std::vector<int> done(static_cast<std::size_t>(c.tiles));
    for (int cta = 0; cta < c.ctas; ++cta) {
      const std::vector<int>& mine = tiles_of[static_cast<std::size_t>(cta)];
      EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
      for (const int tile : mine) {
        ++done[static_cast<std::size_t>(tile)];
        EXPECT_TRUE(cta >= c.order.leaving || tile < c.order.early);
      }
    }
    ASSERT_EQ(std::count(done.begin(), done.end(), 1), c.tiles)
        << c.ctas << " CTAs, " << c.order.leaving << " leave after " << c.order.early << " of "
        << c.tiles << " tiles";
  }
}

/// The loading warp looks up tiles in advance.
TEST(Tiles, the_nth_tile_is_the_one_after_n_steps) {
  for (const Case& c : cases()) {
    const auto tiles_of = walks(c.ctas, c.order, c.tiles);
    for (int cta = 0; cta < c.ctas; ++cta) {
      blockIdx.x = static_cast<unsigned>(cta);
      const std::vector<int>& mine = tiles_of[static_cast<std::size_t>(cta)];
      for (std::size_t from = 0; from < mine.size(); from += 7) {
        for (std::size_t to = from; to < mine.size(); ++to) {
          ASSERT_EQ(device::nth_tile(c.order, mine[from], static_cast<int>(to - from)), mine[to]);
        }
        EXPECT_GE(device::nth_tile(c.order, mine[from], static_cast<int>(mine.size() - from)),
                  c.tiles);
      }
    }
  }
}

/// The two CTAs of a cluster share loads, so they compute neighbours, step by step.
TEST(Tiles, two_ctas_of_a_cluster_compute_tiles_that_follow_one_another) {
  int steps = 0;
  for (const Case& c : cases()) {
    if (c.ctas % 2 + c.order.leaving % 2 + c.order.early % 2 > 0) continue;
    const auto tiles_of = walks(c.ctas, c.order, c.tiles);
    for (std::size_t cta = 0; cta < tiles_of.size(); cta += 2) {
      for (std::size_t step = 0; step < tiles_of[cta + 1].size(); ++step) {
        ASSERT_EQ(tiles_of[cta + 1][step], tiles_of[cta][step] + 1);
        ++steps;
      }
    }
  }
  EXPECT_GT(steps, 1000);
}

/// The end of the last CTA, in tile times, is what the model says of the same hand-over.
TEST(Tiles, the_last_cta_ends_when_the_model_says) {
  for (const Case& c : cases()) {
    if (c.order.early == 0 || c.order.leaving == 0) continue;
    std::size_t longest = 0;
    for (const auto& mine : walks(c.ctas, c.order, c.tiles)) {
      longest = std::max(longest, mine.size());
    }
    const signaled::ClockedGemm gemm{
        .tile_time = 1, .sms = c.ctas - c.order.leaving, .all_sms = c.ctas};
    EXPECT_NEAR(gemm.until(c.tiles, c.order.early), static_cast<double>(longest), 1.0)
        << c.ctas << " CTAs, " << c.order.leaving << " leave after " << c.order.early << " of "
        << c.tiles << " tiles";
  }
}

}  // namespace
}  // namespace overlaptune
