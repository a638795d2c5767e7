#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/memory/sizes.hpp"
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
  for (const Op op : {Op::all_gather_gemm, Op::gemm_all_to_all, Op::all_to_all_gemm}) {
    EXPECT_EQ(most[op], most_workspace_bytes(legality::problem_of(op))) << to_string(op);
  }
}

/// Tiles that do not divide the rows and columns of an owner.
TEST(Workspace, no_tile_of_peer_store_takes_more) {
  const GpuLimits& limits = gpu_limits(kernels::kHopper);
  for (const Op op : {Op::gemm_reduce_scatter, Op::gemm_all_reduce}) {
    for (const std::int64_t rows : {8, 200, 256, 2048}) {
      const Problem problem{
          .op = op, .m = 8 * rows, .n = 1096, .k = 512, .elements = Elements::bf16, .ranks = 8};
      for (const Tile& tile : feasible_tiles(limits, problem.elements)) {
        if (!has_store_kernel(tile, limits)) continue;
        const auto work =
            Work::make(problem, PeerStore{.tile = tile,
                                          .swizzle = 1,
                                          .wave_groups = {tile_order(problem, tile, 1).tiles()}});
        ASSERT_TRUE(work) << work.error().message;
        ASSERT_LE(workspace_bytes(*work), most_workspace_bytes(problem))
            << to_string(problem) << " " << to_string(work->config());
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune::run
