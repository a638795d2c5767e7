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
  const GemmConstants constants{1e-6, 6e-6, 0.7, 1, 1e-5, 1e-7, 1e-6, 4e7, 0.8, 1, 1e-5, 0.05, 2};
  const GemmConstants back = GemmConstants::from_values(constants.values());
  EXPECT_EQ(back.per_mac, 1e-6);
  EXPECT_EQ(back.per_launch, 2);
}

TEST(GemmModel, too_few_probes_are_an_error_that_says_so) {
  const auto model = GemmModel::fit({}, LaunchModel{}, ClockModel{}, 132);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("overlaptune probe"), std::string::npos);
}

}  // namespace
}  // namespace overlaptune
