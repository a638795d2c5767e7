#include "model/gemm_model.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(GemmPhysics, whole_waves_take_whole_tiles) {
  EXPECT_DOUBLE_EQ(produced(10, 132, 132, 0), 10);
  EXPECT_DOUBLE_EQ(produced(10, 133, 132, 0), 20);
  EXPECT_DOUBLE_EQ(produced(10, 264, 132, 0), 20);
}

TEST(GemmPhysics, constants_survive_the_fit_vector) {
  const GemmConstants constants{1e-6, 6e-6, 0.7, 1, 2e-7, 1e-5, 1e-7,
                                1e-6, 4e7,  0.8, 1, 1e-5, 0.05, 2};
  const GemmConstants back = GemmConstants::from_values(constants.values());
  EXPECT_EQ(back.per_mac, 1e-6);
  EXPECT_EQ(back.per_launch, 2);
}

TEST(GemmModel, too_few_probes_are_an_error_that_says_so) {
  const auto model = GemmModel::fit({}, LaunchModel{}, ClockModel{}, 132, gpu_limits(90));
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("overlaptune probe"), std::string::npos);
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
  // Even a probe that is far off is not believed wholly.
  layer.add(other, 7, 5);
  EXPECT_LT(layer.at(other, 7), 0.5);
}

}  // namespace
}  // namespace overlaptune
