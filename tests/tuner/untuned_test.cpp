// Problems that nobody tuned: which are drawn, and how answers for them are judged.

#include "tuner/untuned.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "probes/probes.hpp"
#include "tests/tuner/counting_machine.hpp"

namespace overlaptune {
namespace {

const Platform& simulated() {
  static const Platform platform = CountingMachine().platform();
  return platform;
}

const std::vector<Problem> kTuned{
    {Op::gemm_reduce_scatter, 1024, 8192, 3584, Elements::bf16, 8},
    {Op::gemm_reduce_scatter, 16384, 8192, 1024, Elements::bf16, 8},
    {Op::gemm_all_reduce, 4096, 8192, 3584, Elements::fp16, 8},
};

TEST(UntunedProblemsTest, they_are_legal_new_and_near_what_was_tuned) {
  const auto problems = untuned_problems(kTuned, simulated(), 300, 5);
  ASSERT_EQ(problems.size(), 300U);
  EXPECT_EQ(std::set<Problem>(problems.begin(), problems.end()).size(), 300U);
  for (const Problem& problem : problems) {
    EXPECT_TRUE(validated(problem)) << to_string(problem);
    EXPECT_TRUE(fits(problem, simulated())) << to_string(problem);
    EXPECT_EQ(std::find(kTuned.begin(), kTuned.end(), problem), kTuned.end());
    const bool scatters = problem.op == Op::gemm_reduce_scatter;
    EXPECT_EQ(problem.elements, scatters ? Elements::bf16 : Elements::fp16);
    // A little more than 1.4 times, for the rounding to a multiple of 128.
    EXPECT_GE(problem.m, (scatters ? 1024 : 4096) / 1.4 - 128);
    EXPECT_LE(problem.m, (scatters ? 16384 : 4096) * 1.4 + 128);
    EXPECT_GE(problem.k, (scatters ? 1024 : 3584) / 1.4 - 128);
    EXPECT_LE(problem.k, 3584 * 1.4 + 128);
  }
}

TEST(UntunedProblemsTest, a_third_is_odd_in_each_dimension) {
  const auto problems = untuned_problems(kTuned, simulated(), 600, 11);
  for (std::int64_t Problem::*size : {&Problem::m, &Problem::n, &Problem::k}) {
    const auto odd = std::count_if(problems.begin(), problems.end(),
                                   [&](const Problem& each) { return each.*size % 64 != 0; });
    EXPECT_NEAR(static_cast<double>(odd) / 600, 1.0 / 3, 0.06);
  }
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const Problem& each) {
    return each.op == Op::gemm_all_reduce && each.m % 2 == 1;
  }));
}

TEST(UntunedProblemsTest, the_seed_decides) {
  EXPECT_EQ(untuned_problems(kTuned, simulated(), 20, 1),
            untuned_problems(kTuned, simulated(), 20, 1));
  EXPECT_NE(untuned_problems(kTuned, simulated(), 20, 1),
            untuned_problems(kTuned, simulated(), 20, 2));
  EXPECT_TRUE(untuned_problems({}, simulated(), 20, 1).empty());
}

class RunUntunedTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    CountingMachine machine;
    const auto plan =
        probe_plan(machine.platform(), machine.transports(), std::vector{8}, ProbeDepth::quick);
    for (const Probe& probe : plan) {
      if (auto measured = machine.measure(probe)) measurements_.push_back(*measured);
    }
  }
  [[nodiscard]] static LearnedModel model() {
    return LearnedModel(value_or_throw(Model::fit(simulated(), measurements_)));
  }
  inline static std::vector<Measurement> measurements_{};
};

TEST_F(RunUntunedTest, a_bad_answer_has_regret_and_a_good_one_has_none) {
  const Problem problem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};
  CountingMachine machine;
  LearnedModel tuning = model();
  const Scored bad{Chunked{.comm_ctas = 2, .chunks = 32}, us(1000)};
  const auto poor = value_or_throw(run_untuned(machine, tuning, problem, Launch::graph, bad, 4));
  EXPECT_EQ(poor.config, bad.config);
  EXPECT_EQ(poor.predicted, us(1000));
  EXPECT_GT(poor.over_sequential, 1.1);
  EXPECT_GT(poor.over_best, 1.1);
  const Scored good{poor.best, us(500)};
  const auto best = value_or_throw(run_untuned(machine, tuning, problem, Launch::graph, good, 4));
  EXPECT_LT(best.over_sequential, 1);
  EXPECT_LT(best.over_best, 1.05);  // another tuning may find a better one
  EXPECT_NEAR(best.over_sequential, poor.over_sequential / poor.over_best, 0.02);
}

TEST_F(RunUntunedTest, an_answer_that_fails_says_so) {
  const Problem problem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};
  CountingMachine machine("wrong=1");
  LearnedModel tuning = model();
  const Scored faulty{Chunked{.comm_ctas = 16, .chunks = 2}, us(500)};
  const auto row = value_or_throw(run_untuned(machine, tuning, problem, Launch::graph, faulty, 2));
  EXPECT_EQ(row.verdict, Verdict::wrong);
  EXPECT_EQ(row.measured, us(0));
}

}  // namespace
}  // namespace overlaptune
