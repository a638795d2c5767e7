#include "tuner/layer_probes.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "fitted.hpp"

namespace overlaptune {
namespace {

constexpr Problem kProblem{Op::gemm_all_reduce, 4096, 4096, 2048, Elements::bf16, 2};

class LayerProbes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x2", 2));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  static std::vector<Probe> best(std::vector<Problem> problems, int tiles) {
    return best_gemms(fitted_->model, fitted_->machine->platform(), problems, tiles);
  }
  static double time_of(const Probe& probe) {
    return value_or_throw(fitted_->model.predict(probe)).count();
  }

  inline static std::unique_ptr<FittedMachine> fitted_;
};

TEST_F(LayerProbes, best_gemms_are_the_fastest_of_all_tiles) {
  constexpr int kTiles = 5;
  const auto probes = best({kProblem}, kTiles);
  ASSERT_EQ(probes.size(), std::size_t{kTiles});
  // Each tile with the swizzle that suits it best.
  std::vector<double> all;
  for (const Tile& tile : promising_tiles(gpu_limits(90), kProblem)) {
    double least = 1e30;
    for (const int swizzle : {2, 4, 8, 16}) {
      least = std::min(
          least,
          time_of(GemmProbe{.m = 4096, .n = 4096, .k = 2048, .tile = tile, .swizzle = swizzle}));
    }
    all.push_back(least);
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    EXPECT_NEAR(time_of(probes[i]), all[i], 1e-9) << i;
    const auto& gemm = std::get<GemmProbe>(probes[i]);
    EXPECT_EQ(gemm.m, 4096);
    EXPECT_EQ(gemm.n, 4096);
    EXPECT_EQ(gemm.k, 2048);
    EXPECT_EQ(gemm.sms, 0);
    EXPECT_FALSE(gemm.tile.is_library());
  }
}

TEST_F(LayerProbes, best_gemms_are_there_once_and_for_each_problem) {
  Problem other = kProblem;
  other.k = 1024;
  EXPECT_EQ(best({kProblem, kProblem}, 3).size(), 3U);
  const auto both = best({kProblem, other}, 3);
  ASSERT_EQ(both.size(), 6U);
  EXPECT_EQ(std::get<GemmProbe>(both.front()).k, 2048);
  EXPECT_EQ(std::get<GemmProbe>(both.back()).k, 1024);
  EXPECT_TRUE(best({kProblem}, 0).empty());
  EXPECT_TRUE(best({}, 3).empty());
}

TEST_F(LayerProbes, have_each_tile_shape_once_on_the_sms_that_are_left) {
  const int sms = fitted_->machine->platform().sms;
  int searched = 0;
  const auto probes = layer_probes(fitted_->model, std::vector{kProblem},
                                   {.sms = sms, .tiles = 4, .searched = [&] { ++searched; }});
  EXPECT_EQ(searched, 1);
  ASSERT_EQ(probes.size(), 4U);
  std::set<std::pair<int, int>> shapes;
  for (const Probe& probe : probes) {
    const auto& gemm = std::get<GemmProbe>(probe);
    EXPECT_TRUE(shapes.insert({gemm.tile.block_m, gemm.tile.block_n}).second);
    EXPECT_EQ(gemm.m, 4096);
    EXPECT_EQ(gemm.k, 2048);
    EXPECT_TRUE(gemm.sms == 0 || (gemm.sms > sms / 2 && gemm.sms < sms)) << gemm.sms;
    EXPECT_GT(gemm.swizzle, 0);
  }
}

TEST_F(LayerProbes, end_where_they_are_told_to) {
  EXPECT_TRUE(
      layer_probes(fitted_->model, std::vector{kProblem}, {.sms = 132, .stop = [] { return true; }})
          .empty());
}

}  // namespace
}  // namespace overlaptune
