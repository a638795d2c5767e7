// The run library takes a config of a problem exactly if `check` does, before it sees a GPU.

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "include/overlaptune/run.h"
#include "tests/legality/cases.hpp"

namespace overlaptune {
namespace {

TEST(RunLegality, sizes_are_told_for_what_means_something) {
  int taken = 0;
  for (const legality::Case& each : legality::all_cases()) {
    ovt_problem problem{};
    problem.size = sizeof problem;
    problem.m = each.problem.m;
    problem.n = each.problem.n;
    problem.k = each.problem.k;
    problem.op = static_cast<ovt_op>(each.problem.op);
    problem.ranks = each.problem.ranks;
    ovt_sizes sizes{};
    sizes.size = sizeof sizes;
    const ovt_status status = ovt_plan_sizes(&problem, to_string(each.config).c_str(), &sizes);
    const auto legal = check(each.problem, each.config, Capabilities{});
    ASSERT_EQ(status == OVT_OK, legal.has_value())
        << to_string(each.problem) << " " << to_string(each.config) << ": " << ovt_run_last_error();
    taken += legal ? 1 : 0;
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace overlaptune
