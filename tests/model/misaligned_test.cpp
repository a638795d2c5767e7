// GEMMs whose rows begin within a sector of L2, on the model and on the simulated H200.

#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "fitted.hpp"

namespace overlaptune {
namespace {

class Misaligned : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  static double measured(const GemmProbe& probe) {
    return value_or_throw(fitted_->machine->measure(probe)).time.median.count();
  }
  static double predicted(const GemmProbe& probe) {
    return value_or_throw(fitted_->model.predict(probe)).count();
  }

  static std::unique_ptr<FittedMachine> fitted_;
};

std::unique_ptr<FittedMachine> Misaligned::fitted_;

GemmProbe probe_of(const Tile& tile, std::int64_t k) {
  return {.m = 4096, .n = 8192, .k = k, .tile = tile, .swizzle = 8};
}

/// Slowdowns as on an H200 (docs/results/kernels.md): a tile without a cluster takes far longer,
/// one in a cluster hardly.
TEST_F(Misaligned, rows_slow_tiles_down_and_clusters_less) {
  for (const auto& time : {measured, predicted}) {
    const auto slowdown = [&](const Tile& tile) {
      return time(probe_of(tile, 3592)) / time(probe_of(tile, 3584));
    };
    EXPECT_GT(slowdown({128, 128, 64, 6, 1}), 1.5);
    EXPECT_LT(slowdown({128, 256, 64, 4, 2}), 1.2);
    EXPECT_NEAR(slowdown({128, 256, 64, 4, 1}) - slowdown({128, 256, 64, 4, 2}), 0.3, 0.2);
  }
}

TEST_F(Misaligned, rows_that_begin_with_a_sector_are_as_fast_as_others) {
  for (const auto& time : {measured, predicted}) {
    const Tile tile{128, 256, 64, 4, 1};
    EXPECT_NEAR(time(probe_of(tile, 3600)) / time(probe_of(tile, 3584)), 1, 0.03);
  }
}

/// The library's probes have such rows in small GEMMs only, so the rate comes from generated ones.
TEST_F(Misaligned, a_librarys_gemm_is_slowed_too) {
  for (const auto& [m, n, k] : {std::tuple{4096, 8192, 3592}, {8192, 4104, 8200}}) {
    const auto slowdown = [&](const auto& time) {
      return time(GemmProbe{.m = m, .n = n, .k = k}) / time(GemmProbe{.m = m, .n = n, .k = k - 8});
    };
    EXPECT_GT(slowdown(measured), 1.1) << k;
    EXPECT_NEAR(slowdown(predicted), slowdown(measured), 0.05) << k;
  }
}

TEST_F(Misaligned, the_model_knows_the_machine) {
  for (const Tile& tile : {Tile{128, 256, 64, 4, 1}, Tile{128, 256, 64, 4, 2},
                           Tile{192, 128, 64, 5, 1}, Tile{128, 128, 64, 6, 2}}) {
    for (const std::int64_t k : {1032, 3592, 8200}) {
      const GemmProbe probe = probe_of(tile, k);
      EXPECT_NEAR(predicted(probe) / measured(probe), 1, 0.1)
          << to_string(tile) << " cluster " << tile.cluster << ", k = " << k;
    }
  }
}

}  // namespace
}  // namespace overlaptune
