#include "model/corrections.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

const Problem kHere{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};

Config config(int ctas, int block_n = 256) {
  return Signaled{.tile = {128, block_n, 64, 4, 1},
                  .swizzle = 2,
                  .comm_ctas = ctas,
                  .transport = all_groups_by(Transport::ring),
                  .wave_groups = {512, 512}};
}

Problem with_m(std::int64_t m) {
  Problem problem = kHere;
  problem.m = m;
  return problem;
}

/// A config of a problem. All have the same prediction.
CorrectionPoint point(const Config& config, const Problem& problem = kHere) {
  return correction_point(problem, Launch::graph, config, 1.2);
}

Correction correction_of(const Config& config, const ProblemCorrections& corrections) {
  return corrections.of(corrections.point(config, 1.2));
}

Correction correction_between(const Config& a, const Config& b,
                              const ProblemCorrections& corrections) {
  return corrections.between(corrections.point(a, 1.2), corrections.point(b, 1.2));
}

/// Every config near `kHere` takes `factor` times what is predicted.
Corrections slower_by(double factor) {
  Corrections corrections;
  for (const std::int64_t m : {2048, 4096, 8192}) {
    for (const int ctas : {8, 16, 32}) {
      corrections.add(point(config(ctas), with_m(m)), std::log(factor));
    }
  }
  return corrections;
}

TEST(CorrectionsTest, without_measurements_there_is_nothing_to_correct) {
  const auto corrections = Corrections().around(kHere, Launch::graph);
  EXPECT_EQ(corrections.rows(), 0U);
  EXPECT_EQ(correction_of(config(16), corrections).mean, 0);
  // The error of the analytic model on real machines is some percent (docs/model.md).
  EXPECT_GT(correction_of(config(16), corrections).deviation, 0.02);
  EXPECT_LT(correction_of(config(16), corrections).deviation, 0.2);
}

TEST(CorrectionsTest, what_all_measurements_say_is_believed_near_them) {
  const Correction near =
      correction_of(config(16), slower_by(1.1).around(with_m(4000), Launch::graph));
  EXPECT_NEAR(near.mean, std::log(1.1), 0.005);
  EXPECT_LT(near.deviation, 0.03);
}

TEST(CorrectionsTest, far_away_nothing_is_known) {
  const Corrections corrections = slower_by(1.1);
  Problem other = kHere;
  other.elements = Elements::fp16;
  other.m = 64;
  other.k = 64;
  const Correction far = correction_of(config(16, 32), corrections.around(other, Launch::graph));
  EXPECT_LT(std::abs(far.mean), 0.01);
  double last = 0;
  for (const std::int64_t m : {4096, 65536, 1 << 22}) {
    const double deviation =
        correction_of(config(16), corrections.around(with_m(m), Launch::graph)).deviation;
    EXPECT_GT(deviation, last) << m;
    last = deviation;
  }
}

/// Distances of problems that differ in one thing. Sizes count by the logarithm of one more, so
/// that a size and twice that size and one are a factor of two apart.
TEST(CorrectionPointTest, a_problem_is_as_far_from_another_as_its_sizes_and_names_say) {
  const auto apart = [](const Problem& other, Launch launch = Launch::graph) {
    const auto point = [](const Problem& problem, Launch how) {
      return correction_point(problem, how, Config{}, 1).problem;
    };
    return (point(other, launch) - point(kHere, Launch::graph)).norm();
  };
  const auto with = [](auto field, auto value) {
    Problem problem = kHere;
    problem.*field = value;
    return problem;
  };
  EXPECT_EQ(apart(kHere), 0);
  EXPECT_NEAR(apart(with(&Problem::op, Op::gemm_all_to_all)), 0.5, 1e-12);
  EXPECT_NEAR(apart(with(&Problem::elements, Elements::fp16)), 1, 1e-12);
  EXPECT_NEAR(apart(kHere, Launch::eager), 0.35, 1e-12);
  EXPECT_NEAR(apart(with(&Problem::m, 2 * 4096 + 1)), 1 / 3.4, 1e-12);
  EXPECT_NEAR(apart(with(&Problem::n, 2 * 8192 + 1)), 1 / 3.4, 1e-12);
  EXPECT_NEAR(apart(with(&Problem::k, 2 * 3584)), 1 / 1.8, 1e-3);
  EXPECT_NEAR(apart(with(&Problem::k, 3584 + 8)), std::log2(65.0 / 9) / 1.4,
              1e-3);  // multiples of 64, 8
  EXPECT_NEAR(apart(with(&Problem::ranks, 17)), 1 / 2.2, 1e-12);
}

TEST(CorrectionPointTest, a_config_is_as_far_from_another_as_its_fields_say) {
  const Signaled here{.tile = {127, 255, 64, 4, 1},
                      .swizzle = 1,
                      .comm_ctas = 15,
                      .transport = all_groups_by(Transport::ring),
                      .wave_groups = {1023, 1}};
  const auto apart = [&here](auto field, auto value) {
    const auto point = [](const Signaled& config) {
      return correction_point(kHere, Launch::graph, config, 1.2).config;
    };
    Signaled other = here;
    other.*field = value;
    return (point(other) - point(here)).norm();
  };
  EXPECT_NEAR(apart(&Signaled::tile, Tile{255, 255, 64, 4, 1}), 1 / 1.1, 1e-12);
  EXPECT_NEAR(apart(&Signaled::tile, Tile{127, 127, 64, 4, 1}), 1 / 1.1, 1e-12);
  EXPECT_NEAR(apart(&Signaled::tile, Tile{127, 255, 64, 9, 1}), 1 / 0.8, 1e-12);
  EXPECT_NEAR(apart(&Signaled::swizzle, 3), 1 / 2.2, 1e-12);
  EXPECT_NEAR(apart(&Signaled::comm_ctas, 31), 1 / 2.2, 1e-12);
  EXPECT_NEAR(apart(&Signaled::wait, Wait::kernel), 1.4, 1e-12);
  // The largest wave group counts, and not how many there are.
  EXPECT_NEAR(apart(&Signaled::wave_groups, std::vector<std::int64_t>{256, 511, 257}), 1.0 / 6,
              1e-12);
  EXPECT_EQ(apart(&Signaled::wave_groups, std::vector<std::int64_t>{1, 1023}), 0);
  const auto predicted = [&here](double over_ideal) {
    return correction_point(kHere, Launch::graph, here, over_ideal).config;
  };
  EXPECT_NEAR((predicted(2.4) - predicted(1.2)).norm(), 1 / 0.6, 1e-12);
}

TEST(CorrectionsTest, a_single_outlier_is_hardly_believed) {
  Corrections corrections;
  for (int ctas = 1; ctas <= 32; ++ctas) {
    corrections.add(point(config(ctas)), ctas == 16 ? std::log(2.0) : 0.0);
  }
  EXPECT_LT(correction_of(config(16), corrections.around(kHere, Launch::graph)).mean, 0.02);
}

TEST(CorrectionsTest, a_factor_that_depends_on_the_tile_is_told_apart) {
  Corrections corrections;
  for (const std::int64_t m : {2048, 8192}) {
    for (const int ctas : {8, 16, 32}) {
      corrections.add(point(config(ctas, 256), with_m(m)), std::log(1.1));
      corrections.add(point(config(ctas, 32), with_m(m)), std::log(0.9));
    }
  }
  const auto here = corrections.around(kHere, Launch::graph);
  EXPECT_NEAR(correction_of(config(12, 256), here).mean, std::log(1.1), 0.02);
  EXPECT_NEAR(correction_of(config(12, 32), here).mean, std::log(0.9), 0.02);
  EXPECT_NEAR(correction_between(config(12, 256), config(12, 32), here).mean, std::log(1.1 / 0.9),
              0.03);
}

TEST(CorrectionsTest, what_two_configs_share_does_not_part_them) {
  const auto corrections = slower_by(1.1).around(with_m(30000), Launch::graph);
  const Correction one = correction_of(config(16), corrections);
  const Correction apart = correction_between(config(16), config(15), corrections);
  EXPECT_LT(apart.deviation, one.deviation / 4);
  EXPECT_EQ(correction_between(config(16), config(16), corrections).deviation, 0);
  // The model says nothing of which of two strategies errs more.
  EXPECT_GT(correction_between(config(16), Config{}, corrections).deviation, apart.deviation);
}

/// Measurements of a smooth error that is not the prior's, with noise: four of five lie inside.
TEST(CorrectionsTest, four_of_five_measurements_lie_between_p10_and_p90) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.015);
  std::uniform_real_distribution<double> size(9, 14);
  std::uniform_int_distribution<int> step(1, 16);
  int inside = 0;
  constexpr int kWorlds = 12;
  constexpr int kAsked = 50;
  for (int world = 0; world < kWorlds; ++world) {
    const double phase = std::exp2(size(random));
    const auto drawn = [&] {
      const Problem problem = with_m(static_cast<std::int64_t>(std::exp2(size(random))));
      const int ctas = 2 * step(random);
      const int block_n = 16 * step(random);
      const double error = 0.05 * std::sin(std::log2(static_cast<double>(problem.m)) + phase) +
                           0.04 * std::cos(std::log2(block_n) - phase) +
                           0.02 * std::sin(std::log2(ctas) + phase) + noise(random);
      return std::tuple(problem, config(ctas, block_n), error);
    };
    Corrections corrections;
    for (int i = 0; i < 120; ++i) {
      const auto [problem, own, error] = drawn();
      corrections.add(point(own, problem), error);
    }
    for (int i = 0; i < kAsked; ++i) {
      const auto [problem, own, error] = drawn();
      const Correction guess = correction_of(own, corrections.around(problem, Launch::graph));
      inside += std::abs(error - guess.mean) < 1.372 * guess.deviation ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / (kWorlds * kAsked), 0.8, 0.08);
}

}  // namespace
}  // namespace overlaptune
