#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "run/sizes.hpp"
#include "tests/legality/cases.hpp"

namespace overlaptune::run {
namespace {

/// The workspace that is enough for any config is the largest that a config takes; where results
/// are added up, an upper limit of the slots of `peer_store`.
TEST(Workspace, no_config_takes_more_and_some_take_all_of_it) {
  std::map<Op, std::int64_t> most;
  for (const legality::Case& each : legality::all_cases()) {
    const auto work = Work::make(each.problem, each.config);
    if (!work) continue;
    const std::int64_t bytes = workspace_bytes(*work);
    ASSERT_LE(bytes, most_workspace_bytes(each.problem)) << to_string(each.config);
    most[each.problem.op] = std::max(most[each.problem.op], bytes);
  }
  for (const Op op : {Op::all_gather_gemm, Op::gemm_all_to_all}) {
    EXPECT_EQ(most[op], most_workspace_bytes(legality::problem_of(op))) << to_string(op);
  }
}

}  // namespace
}  // namespace overlaptune::run
