#include "core/candidate.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Winner winner(double time, double sequential, double gemm, double collective) {
  Winner w;
  w.candidate.measured = Summary{us(time), us(time), us(time), 9};
  w.sequential = us(sequential);
  w.gemm_alone = us(gemm);
  w.collective_alone = us(collective);
  return w;
}

TEST(Winner, hides_all_at_the_ideal_and_nothing_at_sequential) {
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(100, 160, 100, 60)), 1);
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(160, 160, 100, 60)), 0);
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(130, 160, 60, 100)), 0.5);
}

TEST(Winner, has_no_hidden_fraction_where_there_is_nothing_to_hide) {
  EXPECT_FALSE(hidden_fraction(winner(100, 102, 100, 2)));
}

TEST(Config, lines_are_equal_for_equal_configs_only) {
  const Config a{.strategy = Strategy::signaled,
                 .tile = {128, 256, 64, 4, 2},
                 .raster = 8,
                 .comm_ctas = 16,
                 .wave_groups = {928, 96}};
  EXPECT_EQ(to_string(a),
            "signaled tile=128x256x64 stages=4 cluster=2 raster=8 ctas=16 transport=ring "
            "groups=928,96");
  Config b = a;
  b.wave_groups = {92, 896};
  EXPECT_NE(to_string(a), to_string(b));
  EXPECT_EQ(to_string(Config{}), "sequential ctas=0 transport=ring");
}

}  // namespace
}  // namespace overlaptune
