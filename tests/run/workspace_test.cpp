#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "run/sizes.hpp"
#include "tests/legality/cases.hpp"

namespace overlaptune::run {
namespace {

/// The workspace that is enough for any config is the largest that a config takes.
TEST(Workspace, some_config_of_each_op_takes_all_of_it_and_none_takes_more) {
  std::map<Op, std::int64_t> most;
  for (const legality::Case& each : legality::all_cases()) {
    const auto work = Work::make(each.problem, each.config);
    if (!work) continue;
    const std::int64_t bytes = workspace_bytes(*work);
    ASSERT_LE(bytes, most_workspace_bytes(each.problem)) << to_string(each.config);
    most[each.problem.op] = std::max(most[each.problem.op], bytes);
  }
  for (const auto& [op, name] : NamesOf<Op>::all) {
    EXPECT_EQ(most[op], most_workspace_bytes(legality::problem_of(op))) << name;
  }
}

}  // namespace
}  // namespace overlaptune::run
