// Tiles that are stored at the ranks that own them, on made-up machines whose times are known.

#include "strategies/peer_store/sim_run.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

constexpr double kTile = 10;   // us
constexpr double kStart = 2;   // us
constexpr double kSignal = 3;  // us

/// A row of tiles of 128 x 128 for each rank, in groups of these numbers of tiles. A tile takes
/// `sent` microseconds on the links. Own tiles come with their group.
StorePlan plan_of(Op op, std::int64_t columns, int ranks, int sms, double sent,
                  const std::vector<std::int64_t>& groups) {
  const std::int64_t rows = op == Op::gemm_all_reduce ? 128 : 128 * ranks;
  const Problem problem{.op = op, .m = rows, .n = 128 * columns, .k = 64, .ranks = ranks};
  const TileOrder tiles = tile_order(problem, {128, 128, 64, 4, 1}, 1);
  StorePlan plan{.order = store_order(problem, tiles, value_or_throw(group_cuts(tiles, groups))),
                 .times = {.whole = kTile,
                           .right = kTile,
                           .bottom = kTile,
                           .corner = kTile,
                           .kernel_start = kStart},
                 .sms = sms,
                 .adds_up = op != Op::gemm_all_to_all,
                 .spreads = op == Op::gemm_all_reduce,
                 .signal = kSignal};
  plan.order.own_later = false;
  plan.link_rate = static_cast<double>(slot_bytes(plan.order)) / sent;
  return plan;
}

StoreVariation even() {
  return {.noise = Noise(1)};
}

double end_of(const StorePlan& plan, const StoreVariation& variation) {
  const StoreRun run = run_stores(plan, variation);
  return *std::max_element(run.rank_ends.begin(), run.rank_ends.end());
}
double end_of(const StorePlan& plan) {
  return end_of(plan, even());
}

TEST(StoreRun, links_without_limit_leave_the_time_of_the_gemm) {
  for (const Op op : {Op::gemm_reduce_scatter, Op::gemm_all_to_all}) {
    // 64 tiles on 8 SMs: 8 waves.
    EXPECT_NEAR(end_of(plan_of(op, 16, 4, 8, 1e-9, {64})), kStart + 8 * kTile, 0.01);
  }
  // The last sums are signalled, and then fetched.
  EXPECT_NEAR(end_of(plan_of(Op::gemm_all_reduce, 64, 4, 8, 1e-9, {64})),
              kStart + 8 * kTile + 2 * kSignal, 0.01);
}

TEST(StoreRun, an_own_tile_waits_for_the_tiles_of_the_peers) {
  // Each of 2 ranks has 4 SMs. In the first wave it computes the 4 tiles of the other one.
  const double wave = kStart + kTile;
  EXPECT_NEAR(end_of(plan_of(Op::gemm_reduce_scatter, 4, 2, 4, 1, {8})), wave + kTile, 1e-9);
  EXPECT_NEAR(end_of(plan_of(Op::gemm_reduce_scatter, 4, 2, 4, 5, {8})), wave + 4 * 5 + kSignal,
              1e-9);
  // Nothing waits where each tile goes to its place at once; but the last one must be there.
  EXPECT_NEAR(end_of(plan_of(Op::gemm_all_to_all, 4, 2, 4, 5, {8})), wave + 4 * 5 + kSignal, 1e-9);
  EXPECT_NEAR(end_of(plan_of(Op::gemm_all_to_all, 4, 2, 4, 1, {8})), wave + kTile, 1e-9);
}

TEST(StoreRun, sums_are_fetched_by_all_ranks) {
  // 8 tiles of one row block: 4 for the other rank, which sends its sums of the other 4. A signal
  // says that they are there, and to copy them into C takes as long.
  const double arrived = kStart + kTile + 4 * 5 + kSignal;
  EXPECT_NEAR(end_of(plan_of(Op::gemm_all_reduce, 8, 2, 4, 5, {8})), arrived + 4 * 5 + 2 * kSignal,
              1e-9);
  // With 4 ranks each sum goes to 3 others.
  const double of_three = kStart + 3 * kTile;  // 12 tiles of the others on 4 SMs
  EXPECT_NEAR(end_of(plan_of(Op::gemm_all_reduce, 16, 4, 4, 0.5, {16})),
              of_three + kTile + 4 * 3 * 0.5 + 2 * kSignal, 1e-9);
}

TEST(StoreRun, a_full_link_holds_the_gemm_back) {
  // 256 tiles of the other rank on 4 SMs, then 256 of its own. The links need twice as long as the
  // SMs; two waves of tiles wait for them at most.
  const double sent = 2 * kTile / 4;
  const StoreRun run = run_stores(plan_of(Op::gemm_all_to_all, 256, 2, 4, sent, {512}), even());
  const double links = 256 * sent;
  const double own = 256 / 4 * kTile;
  EXPECT_NEAR(run.timeline.gemm_end.count(), links + own, 3 * kTile);
  // In small groups the links go on while own tiles are computed.
  const double in_groups =
      end_of(plan_of(Op::gemm_all_to_all, 256, 2, 4, sent, std::vector<std::int64_t>(64, 8)));
  EXPECT_NEAR(in_groups, links, 3 * kTile);
}

/// Two groups of two waves. In each the peer's tiles arrive `kLate` too late. In the first one the
/// SMs also wait until all ranks have met, which takes a signal.
constexpr double kLongSignal = 1.5 * kTile;
constexpr double kLate = 4 * 0.1 + 0.5 * kTile;
constexpr double kMeet = kLongSignal - (kStart + kTile);
StorePlan late_plan() {
  StorePlan plan = plan_of(Op::gemm_reduce_scatter, 8, 2, 4, 0.1, {8, 8});
  plan.signal = kLongSignal;
  return plan;
}

TEST(StoreRun, an_sm_that_uses_ping_pong_goes_on_while_its_tile_waits) {
  StorePlan plan = late_plan();
  plan.ping_pong = true;
  EXPECT_NEAR(end_of(plan), kStart + 4 * kTile + kLate, 1e-9);
  plan.ping_pong = false;
  EXPECT_NEAR(end_of(plan), kStart + 4 * kTile + 2 * kLate + kMeet, 1e-9);
}

TEST(StoreRun, own_tiles_that_come_later_do_not_wait) {
  // Groups of two waves. The peer's tiles arrive later than an own tile is multiplied that comes
  // with its group, and sooner than one that comes after another wave.
  StorePlan plan = plan_of(Op::gemm_reduce_scatter, 16, 2, 4, 0.8 * kTile / 4, {8, 8, 8, 8});
  const double waits = end_of(plan);
  EXPECT_GT(waits, kStart + 8 * kTile + 1);
  plan.order.own_later = true;
  EXPECT_NEAR(end_of(plan), kStart + 8 * kTile, 1e-9);
  // The last peer's tiles come late, with nothing behind which their sum could come.
  plan = plan_of(Op::gemm_reduce_scatter, 4, 2, 4, 5, {8});
  plan.order.own_later = true;
  EXPECT_NEAR(end_of(plan), kStart + kTile + 4 * 5 + kSignal, 1e-9);
}

TEST(StoreRun, adding_up_lengthens_own_tiles_only) {
  StorePlan plan = plan_of(Op::gemm_reduce_scatter, 16, 4, 4, 1e-9, {64});
  plan.signal = 0;
  const double without = end_of(plan);
  plan.add_up = 1;
  EXPECT_NEAR(end_of(plan), without + 4 * 1, 1e-6);  // 16 own tiles on 4 SMs
}

TEST(StoreRun, one_rank_stands_for_all_where_there_are_many_tiles) {
  // With as many ranks, each rank is run; with a few more tiles, one is.
  const auto per_tile = [&](std::int64_t columns) {
    const StorePlan plan =
        plan_of(Op::gemm_reduce_scatter, columns, 2, 128, 0.05, {columns, columns});
    return end_of(plan) / static_cast<double>(columns);
  };
  EXPECT_NEAR(per_tile((1 << 15) + 128) / per_tile(1 << 15), 1, 2e-3);
}

TEST(StoreRun, a_timeline_says_when_groups_were_computed_sent_and_exposed) {
  const StoreRun run = run_stores(late_plan(), even());
  ASSERT_EQ(run.timeline.groups.size(), 2U);
  const GroupTimes& first = run.timeline.groups[0];
  EXPECT_NEAR(first.ready.count(), kStart + kTile, 1e-9);
  EXPECT_NEAR(first.start.count(), kLongSignal, 1e-9);
  EXPECT_NEAR(first.end.count(), kStart + 2 * kTile + kMeet + kLate, 1e-9);
  EXPECT_NEAR(first.exposed.count(), kMeet + kLate, 1e-9);
  const GroupTimes& last = run.timeline.groups[1];
  EXPECT_EQ(last.group, 1);
  EXPECT_NEAR(last.ready.count(), kStart + 3 * kTile + kMeet + kLate, 1e-9);
  EXPECT_EQ(last.start, last.ready);
  EXPECT_NEAR(last.end.count(), kStart + 4 * kTile + kMeet + 2 * kLate, 1e-9);
  EXPECT_NEAR(last.exposed.count(), kLate, 1e-9);
  EXPECT_NEAR(run.timeline.gemm_end.count(), kStart + 4 * kTile + kMeet + kLate, 1e-9);
}

TEST(StoreRun, a_slow_clock_slows_tiles_and_a_slow_link_bytes) {
  const StorePlan by_gemm = plan_of(Op::gemm_all_to_all, 64, 2, 4, 0.01, {128});
  const StorePlan by_link = plan_of(Op::gemm_all_to_all, 64, 2, 4, 100, {128});
  StoreVariation slow = even();
  slow.clock = 0.5;
  EXPECT_NEAR(end_of(by_gemm, slow) / end_of(by_gemm), 2, 0.01);
  EXPECT_NEAR(end_of(by_link, slow) / end_of(by_link), 1, 0.05);
  slow = even();
  slow.link = 2;
  EXPECT_NEAR(end_of(by_gemm, slow) / end_of(by_gemm), 1, 0.01);
  EXPECT_NEAR(end_of(by_link, slow) / end_of(by_link), 2, 0.05);
}

}  // namespace
}  // namespace overlaptune::sim
