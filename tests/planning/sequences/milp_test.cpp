// The planner beside integer programming. OVERLAPTUNE_MILP_PROBLEMS asks for more problems.

#include "tests/planning/sequences/milp.hpp"

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "planning/sequences/search/solver.hpp"
#include "tests/planning/sequences/costs_7b.hpp"
#include "tests/planning/sequences/enumeration.hpp"

namespace overlaptune {
namespace {

#ifdef OVERLAPTUNE_HAS_CBC

TEST(Milp, agrees_with_enumeration) {
  std::mt19937 random(5);
  for (int i = 0; i < 4;) {
    const SmallProblem problem = small_problem(random, 2, 5);
    if (problem.gpus.count > 4) continue;
    ++i;
    const double least = least_batch_time(problem.costs, problem.gpus, problem.lengths);
    const auto milp = solve_milp(problem.costs, problem.gpus, problem.lengths,
                                 static_cast<int>(problem.lengths.size()), 20);
    ASSERT_TRUE(milp && milp->optimal) << "problem " << i;
    EXPECT_NEAR(milp->time_us, least, 2e-4 * least) << "problem " << i;
  }
}

TEST(Milp, is_hardly_better_than_the_planner) {
  const char* wanted = std::getenv("OVERLAPTUNE_MILP_PROBLEMS");
  const int problems = wanted == nullptr ? 6 : std::atoi(wanted);
  std::mt19937 random(9);
  double sum = 0;
  double worst = 0;
  int optimal = 0;
  int compared = 0;
  for (int i = 0; i < problems; ++i) {
    const SmallProblem problem = small_problem(random, 4, problems > 6 ? 24 : 10);
    const Rates rates(problem.costs, problem.gpus);
    const BatchPlan plan = plan_batch(rates, problem.lengths);
    const auto milp = solve_milp(problem.costs, problem.gpus, problem.lengths,
                                 static_cast<int>(plan.micro_batches.size()), 10);
    if (!milp) continue;
    const double over = plan.time_us / milp->time_us - 1;
    ++compared;
    optimal += milp->optimal ? 1 : 0;
    sum += over;
    worst = std::max(worst, over);
    EXPECT_LE(over, 0.03) << "problem " << i;
  }
  ASSERT_GT(compared, 0);
  std::cout << compared << " problems, " << optimal
            << " solved to the optimum: the planner is over by " << 100 * sum / compared
            << " % in the mean, " << 100 * worst << " % at most\n";
  EXPECT_LE(sum / compared, 0.005);
}

#else

TEST(Milp, needs_cbc) {
  GTEST_SKIP() << "CBC's C interface was not found (Debian: coinor-libcbc-dev)";
}

#endif

}  // namespace
}  // namespace overlaptune
