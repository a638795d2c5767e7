#include "tuner/held_out_errors.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

HeldOutPoint collective(Collective collective, double measured, double predicted) {
  return {CollectiveProbe{.collective = collective}, us(measured), us(predicted)};
}

HeldOutPoint library_gemm(double measured, double predicted) {
  return {GemmProbe{}, us(measured), us(predicted)};
}

TEST(HeldOutErrors, are_those_of_each_kind_and_of_all_collectives) {
  const std::vector<HeldOutPoint> points{
      library_gemm(200, 190), collective(Collective::all_reduce, 100, 110),
      collective(Collective::all_gather, 100, 80), collective(Collective::all_reduce, 50, 50)};
  const auto kinds = errors_by_kind(points);
  ASSERT_EQ(kinds.size(), 4U);
  EXPECT_EQ(kinds[0].kind, "collectives");
  EXPECT_EQ(kinds[0].count, 3U);
  EXPECT_NEAR(kinds[0].median, 0.1, 1e-12);
  EXPECT_NEAR(kinds[0].most, 0.2, 1e-12);
  EXPECT_NEAR(kinds[0].mean, 0.1, 1e-12);
  EXPECT_EQ(kinds[1].kind, "gemm");
  EXPECT_NEAR(kinds[1].most, 0.05, 1e-12);
  EXPECT_EQ(kinds[2].kind, "all_reduce");
  EXPECT_EQ(kinds[2].count, 2U);
  EXPECT_NEAR(kinds[2].mean, 0.05, 1e-12);
  EXPECT_EQ(kinds[3].kind, "all_gather");
}

TEST(HeldOutErrors, of_collectives_are_left_out_where_there_is_none) {
  const std::vector<HeldOutPoint> points{library_gemm(100, 103)};
  const auto kinds = errors_by_kind(points);
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].kind, "gemm");
  EXPECT_TRUE(errors_by_kind({}).empty());
}

}  // namespace
}  // namespace overlaptune
