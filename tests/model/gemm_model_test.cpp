#include "model/gemm_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(GemmPhysics, whole_waves_take_whole_tiles) {
  EXPECT_DOUBLE_EQ(produced(10, 132, 132, 0), 10);
  EXPECT_DOUBLE_EQ(produced(10, 133, 132, 0), 20);
  EXPECT_DOUBLE_EQ(produced(10, 264, 132, 0), 20);
}

TEST(GemmPhysics, constants_survive_the_fit_vector) {
  const GemmConstants constants{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  const Eigen::VectorXd in_order = Eigen::VectorXd::LinSpaced(14, 1, 14);
  EXPECT_EQ(constants.values(), in_order);
  EXPECT_EQ(GemmConstants::from_values(in_order).values(), in_order);
}

TEST(GemmModel, too_few_probes_are_an_error_that_says_so) {
  const auto model = GemmModel::fit({}, LaunchModel{}, ClockModel{}, 132, gpu_limits(90));
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("overlaptune probe"), std::string::npos);
}

/// Constants of a GPU, with an L2 of so many bytes. What a wave does not keep there comes from
/// memory, which is slow.
GemmConstants constants_with(double cache_bytes) {
  return {.per_mac = 2.6e-7,
          .per_fragment = 1.5e-6,
          .multicast = 0.7,
          .clipping = 1,
          .per_misaligned_byte = 1e-9,
          .per_operand_byte = 5e-6,
          .per_shared_byte = 8e-8,
          .per_missed_byte = 1.5e-6,
          .cache_bytes = cache_bytes,
          .load_latency = 0.4,
          .per_tile = 1,
          .per_output_byte = 1e-5,
          .spread = 0.05,
          .per_launch = 1.5};
}

/// GEMMs of tiles of 128 x 256 whose times are the bounds with these constants.
std::vector<Measurement> measured_with(const GemmConstants& constants) {
  std::vector<Measurement> list;
  for (const std::int64_t m : {1024, 4096, 16384}) {
    for (const std::int64_t n : {2048, 4096, 16384}) {
      for (const std::int64_t k : {1024, 4096, 8192}) {
        for (const int swizzle : {1, 8}) {
          const GemmProbe probe{
              .m = m, .n = n, .k = k, .tile = {128, 256, 64, 4, 1}, .swizzle = swizzle};
          GemmWork work{.tile = probe.tile,
                        .order = {.block_rows = m,
                                  .n = n,
                                  .blocks = 1,
                                  .block_m = 128,
                                  .block_n = 256,
                                  .swizzle = swizzle},
                        .k = k,
                        .sms = 132};
          work.ctas = ctas_per_tile(work.order, probe.tile, k, work.sms, gpu_limits(90));
          const double tile = tile_bounds(work, constants).time();
          Measurement measurement{.probe = probe};
          measurement.time.median =
              us(constants.per_launch + produced(tile, work.order.tiles(), 132, constants.spread));
          list.push_back(measurement);
        }
      }
    }
  }
  return list;
}

/// The fit starts from two points, an L2 that waves exceed and one that nothing exceeds. It keeps
/// the one that is nearer to what was measured, whichever that is.
TEST(GemmModel, the_fit_finds_an_l2_that_is_exceeded_and_one_that_is_not) {
  for (const double cache_bytes : {3e7, 1e9}) {
    const auto measurements = measured_with(constants_with(cache_bytes));
    const auto model =
        GemmModel::fit(measurements, LaunchModel{}, ClockModel{}, 132, gpu_limits(90));
    ASSERT_TRUE(model);
    const double fitted = model->constants().cache_bytes;
    EXPECT_GT(fitted, cache_bytes / 3) << cache_bytes;
    EXPECT_LT(fitted, cache_bytes * 3) << cache_bytes;
  }
}

/// Probes whose times fall with k more than anything in the model explains, and the highest rate of
/// them: the time of an SM for a multiply-add.
struct Falling {
  std::vector<Measurement> probes = measured_with(constants_with(1e9));
  double fastest = std::numeric_limits<double>::max();

  Falling() {
    for (Measurement& measurement : probes) {
      const auto& probe = std::get<GemmProbe>(measurement.probe);
      measurement.time.median *= std::pow(static_cast<double>(probe.k) / 8192, -0.4);
      fastest =
          std::min(fastest, measurement.time.median.count() / macs(probe.m, probe.n, probe.k));
    }
  }
  static double macs(std::int64_t m, std::int64_t n, std::int64_t k) {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / 132;
  }
};

/// Where the correction carries on what the probes show, it ends at the highest rate of them.
TEST(LibraryGemmModel, nothing_is_predicted_faster_than_the_fastest_that_was_probed) {
  Falling falling;
  for (Measurement& measurement : falling.probes) {
    auto& probe = std::get<GemmProbe>(measurement.probe);
    measurement.library_tile = std::exchange(probe.tile, {});
  }
  const auto model = value_or_throw(
      LibraryGemmModel::fit(falling.probes, LaunchModel{}, ClockModel{}, 132, nullptr));
  for (const std::int64_t m : {1024, 4096, 16384}) {
    for (const std::int64_t n : {2048, 16384, 65536}) {
      for (const std::int64_t k : {1024, 8192, 16384, 32768}) {
        EXPECT_GE(model.time(m, n, k, 132), falling.fastest * Falling::macs(m, n, k))
            << m << " x " << n << " x " << k;
      }
    }
  }
}

/// A generated one may be faster by what a launch and a last wave take.
TEST(GemmModel, no_layer_that_was_not_probed_is_predicted_much_faster_than_the_fastest_that_was) {
  const Falling falling;
  const auto model = value_or_throw(
      GemmModel::fit(falling.probes, LaunchModel{}, ClockModel{}, 132, gpu_limits(90)));
  for (const std::int64_t m : {1024, 4096, 16384}) {
    for (const std::int64_t n : {6144, 24576, 65536}) {
      for (const std::int64_t k : {1024, 8192, 16384, 32768}) {
        const GemmProbe probe{.m = m, .n = n, .k = k, .tile = {128, 256, 64, 4, 1}, .swizzle = 8};
        EXPECT_GE(model.whole(probe, 132), 0.95 * falling.fastest * Falling::macs(m, n, k))
            << m << " x " << n << " x " << k;
      }
    }
  }
}

TEST(LayerResiduals, a_tile_is_known_by_its_nearest_probes_and_others_by_the_mean) {
  const Tile probed{128, 256, 64, 4, 1};
  const Tile other{64, 64, 64, 4, 1};
  LayerResiduals layer;
  EXPECT_EQ(layer.at(probed, 7), 0);
  layer.add(probed, 7, 0.1);
  layer.add(probed, 7, 0.2);
  layer.add(probed, 9, -0.1);
  EXPECT_DOUBLE_EQ(layer.at(probed, 7.5), 0.15);
  EXPECT_DOUBLE_EQ(layer.at(probed, 20), -0.1);
  // The mean over three probes and over three more without a difference.
  EXPECT_DOUBLE_EQ(layer.at(other, 7), 0.2 / 6);
  // Probes that are far off are not believed wholly.
  layer.add(other, 7, 5);
  layer.add(other, 9, -5);
  EXPECT_EQ(layer.at(other, 7), 0.3);
  EXPECT_EQ(layer.at(other, 9), -0.3);
}

}  // namespace
}  // namespace overlaptune
