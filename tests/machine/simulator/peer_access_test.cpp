// Groups by peer access, on the simulated H200 that has it: one kernel takes all groups.

#include <cmath>

#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "tests/machine/simulator/configs.hpp"

namespace overlaptune {
namespace {

constexpr Tile kTileOfOne{128, 256, 64, 4, 1};
const Problem kStored{.op = Op::gemm_reduce_scatter, .m = 8192, .n = 8192, .k = 3584, .ranks = 8};

std::unique_ptr<Machine> machine_with_peers() {
  return value_or_throw(open_machine("sim:h200-nvlink-x8", {.seed = 1}));
}

/// The problem in these groups of tiles, of which there are 2048.
Signaled in_groups(std::vector<std::int64_t> groups, Transport transport = Transport::peer_access) {
  return {.tile = kTileOfOne,
          .swizzle = 1,
          .comm_ctas = 16,
          .transport = all_groups_by(transport),
          .wait = Wait::kernel,
          .wave_groups = std::move(groups)};
}

Timeline timeline(const Signaled& config, const Problem& problem = kStored) {
  const auto sim = machine_with_peers();
  const RunResult result = test::run(*sim, problem, config, {.timeline = true});
  EXPECT_EQ(result.verdict, Verdict::valid) << result.reason;
  return result.timeline.value();
}

double busy(const Timeline& timeline) {
  double sum = 0;
  for (const GroupTimes& group : timeline.groups) sum += (group.end - group.start).count();
  return sum;
}

double probed(const Probe& probe) {
  return value_or_throw(machine_with_peers()->measure(probe)).time.median.count();
}

TEST(PeerAccess, one_group_takes_what_an_exchange_was_probed_to_take) {
  const GroupTimes group = timeline(in_groups({2048})).groups.front();
  const double exchange = probed(CollectiveProbe{.collective = Collective::reduce_scatter,
                                                 .bytes = collective_bytes(kStored),
                                                 .ranks = 8,
                                                 .comm_ctas = 16,
                                                 .transport = Transport::peer_access});
  const double replay = probed(LaunchProbe{LaunchCost::graph_replay});
  const double trigger = probed(LaunchProbe{LaunchCost::kernel_trigger});
  EXPECT_NEAR((group.end - group.ready).count(), trigger + exchange - replay, 0.03 * exchange);
}

// Groups of 32 KiB: their time hardly depends on their size. On 4 GPUs another one costs 1.3 us
// (docs/results/kernels.md).
TEST(PeerAccess, another_group_costs_little) {
  const Problem small{.op = Op::gemm_reduce_scatter, .m = 512, .n = 256, .k = 512, .ranks = 8};
  const auto seven_more = [&](Transport transport) {
    const auto time = [&](const std::vector<std::int64_t>& groups) {
      Signaled config = in_groups(groups, transport);
      config.tile = {64, 32, 64, 4, 1};
      return busy(timeline(config, small));
    };
    return time({8, 8, 8, 8, 8, 8, 8, 8}) - time({64});
  };
  EXPECT_GT(seven_more(Transport::peer_access), 7 * 0.5);
  EXPECT_LT(seven_more(Transport::peer_access), 7 * 3);
  EXPECT_GT(seven_more(Transport::symmetric), 7 * 6);
}

// Eight tiles are a column of a swizzle group of one panel of each row block.
TEST(PeerAccess, a_group_may_end_at_any_column_without_a_copy) {
  const double at_swizzle_group = busy(timeline(in_groups({1024, 1024})));
  const double within_it = busy(timeline(in_groups({1024 + 8, 1024 - 8})));
  EXPECT_NEAR(within_it / at_swizzle_group, 1, 0.02);
  const double copied = busy(timeline(in_groups({1024 + 8, 1024 - 8}, Transport::symmetric)));
  EXPECT_GT(copied, busy(timeline(in_groups({1024, 1024}, Transport::symmetric))) + 5);
}

TEST(PeerAccess, fewer_ranks_than_measured_take_less) {
  const auto sim = machine_with_peers();
  const auto time = [&](int ranks) {
    const Problem tiny{.op = Op::gemm_all_reduce, .m = 128, .n = 256, .k = 64, .ranks = ranks};
    Signaled config = in_groups({1, 1, 1, 1});
    config.tile = {64, 128, 64, 4, 1};
    const RunResult result = test::run(*sim, tiny, config, {.timeline = true});
    EXPECT_EQ(result.verdict, Verdict::valid) << result.reason;
    EXPECT_TRUE(std::isfinite(busy(result.timeline.value())));
    return test::time_us(result);
  };
  EXPECT_LT(time(2), time(4));
  EXPECT_LT(time(4), time(8));
  EXPECT_GT(time(2), 5);
}

TEST(PeerAccess, only_the_first_group_waits_for_the_stream) {
  const auto wait = [](const Timeline& timeline, std::size_t group) {
    return (timeline.groups[group].start - timeline.groups[group].ready).count();
  };
  Signaled config = in_groups({512, 512, 512, 512});
  const Timeline by_kernel = timeline(config);
  config.wait = Wait::driver;
  const Timeline by_driver = timeline(config);
  const double sooner = probed(LaunchProbe{LaunchCost::driver_trigger}) -
                        probed(LaunchProbe{LaunchCost::kernel_trigger});
  EXPECT_NEAR(wait(by_driver, 0) - wait(by_kernel, 0), sooner, 0.5);
  EXPECT_LT(wait(by_driver, 1), 2);
}

TEST(PeerAccess, wins_where_it_won_on_the_gpus) {
  // docs/results, 8 GPUs: speedups of 1.05 to 1.55, all but two of 24 by peer access.
  for (const Op op : {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all}) {
    Problem problem = kStored;
    problem.op = op;
    Signaled config = test::signaled(problem, kTileOfOne, 1, 132, 8, 1);
    config.wait = Wait::kernel;
    config.transport = all_groups_by(Transport::peer_access);
    const auto sim = machine_with_peers();
    const double by_peers = test::time_us(test::run(*sim, problem, config));
    const double sequential = test::time_us(test::run(*sim, problem, {}));
    config.transport = all_groups_by(Transport::ring);
    EXPECT_LT(by_peers, sequential / 1.15) << to_string(problem);
    EXPECT_LT(by_peers, test::time_us(test::run(*sim, problem, config))) << to_string(problem);
  }
}

}  // namespace
}  // namespace overlaptune
