// The tiles that a CTA computes: the GPU's own source text runs here, CTA by CTA.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "model/signaled_gemm.hpp"

#define __device__
#define __forceinline__ inline
#define BLOCK_M 128
#define BLOCK_N 128

namespace device {

struct Dim {
  unsigned x = 1;
};
Dim gridDim;   // NOLINT: CUDA's names
Dim blockIdx;  // NOLINT
inline int from_lane(int value, int) {
  return value;
}

#include "kernels/device/tiles.cu"

struct Order {
  int early = 0;
  int leaving = 0;
};

/// The tiles of each CTA, in its order.
std::vector<std::vector<int>> walks(int ctas, const Order& order, int tiles) {
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

}  // namespace device

namespace overlaptune {
namespace {

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
          list.push_back({ctas, {early, leaving}, tiles});
      }
    }
  }
  for (const int early : {0, 1, 100, 132, 133, 250, 264, 1000, 2048}) {
    for (const int leaving : {1, 4, 8, 16, 24, 64}) list.push_back({132, {early, leaving}, 2048});
  }
  return list;
}

TEST(Tiles, each_is_computed_once_and_those_who_leave_do_early_ones_only) {
  for (const Case& c : cases()) {
    const auto walks = device::walks(c.ctas, c.order, c.tiles);
    std::vector<int> done(static_cast<std::size_t>(c.tiles));
    for (int cta = 0; cta < c.ctas; ++cta) {
      const std::vector<int>& mine = walks[static_cast<std::size_t>(cta)];
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
    const auto walks = device::walks(c.ctas, c.order, c.tiles);
    for (int cta = 0; cta < c.ctas; ++cta) {
      device::blockIdx.x = static_cast<unsigned>(cta);
      const std::vector<int>& mine = walks[static_cast<std::size_t>(cta)];
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
    const auto walks = device::walks(c.ctas, c.order, c.tiles);
    for (std::size_t cta = 0; cta < walks.size(); cta += 2) {
      for (std::size_t step = 0; step < walks[cta + 1].size(); ++step) {
        ASSERT_EQ(walks[cta + 1][step], walks[cta][step] + 1);
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
    for (const auto& mine : device::walks(c.ctas, c.order, c.tiles)) {
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
