// Reasons why one config is slower than another, on predictions made by hand.

#include "query/explain.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// A config whose time measured configs make `factor` times as long.
Explained explained(double analytic, double factor, double gemm,
                    const std::vector<double>& exposed) {
  Explained row{.score = {.analytic = us(analytic), .correction = {.mean = std::log(factor)}},
                .prediction = {.time = us(analytic), .gemm_alone = us(gemm)}};
  for (const double each : exposed) row.prediction.timeline.groups.push_back({.exposed = us(each)});
  return row;
}

TEST(Explain, a_time_is_gemm_and_waits_and_the_rest_and_what_was_learned) {
  const Explained row = explained(110, 1.2, 70, {20, 15});
  EXPECT_DOUBLE_EQ(exposed(row.prediction).count(), 20 + 15);
  EXPECT_DOUBLE_EQ(beside_us(row), 110 - 70 - 35);
  EXPECT_NEAR(learned_us(row), 132 - 110, 1e-9);
}

/// 132 us instead of 100: 10 us of the GEMM, 5 of waits, 22 learned, and 5 less beside and
/// launches.
TEST(Explain, the_terms_of_a_reason_add_up) {
  const Explained best = explained(100, 1, 60, {30});
  EXPECT_EQ(reason(explained(110, 1.2, 70, {20, 15}), best),
            "+32.0 us: GEMM alone +10.0 us, exposed communication +5.0 us, GEMM beside it and "
            "launches -5.0 us, learned +22.0 us");
}

/// 0.24 us of the GEMM and as much of waits are 0.2 each as printed, so 0.1 of the 0.5 is the rest.
TEST(Explain, the_terms_add_up_as_they_are_printed) {
  const Explained best = explained(100, 1, 60, {30});
  EXPECT_EQ(reason(explained(100.48, 1, 60.24, {30.24}), best),
            "+0.5 us: GEMM alone +0.2 us, exposed communication +0.2 us, GEMM beside it and "
            "launches +0.1 us, learned +0.0 us");
}

TEST(Explain, a_config_is_bound_by_what_takes_longer_alone) {
  EXPECT_EQ(bound_by({.gemm_alone = us(10), .collective_alone = us(11)}), "collective");
  EXPECT_EQ(bound_by({.gemm_alone = us(11), .collective_alone = us(10)}), "gemm");
  EXPECT_EQ(bound_by({.gemm_alone = us(10), .collective_alone = us(10)}), "gemm");
}

}  // namespace
}  // namespace overlaptune
