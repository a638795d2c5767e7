#include "machine/controller/merge.hpp"

#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

using RankTimes = std::vector<Microseconds>;

Hello hello_of(const std::string& model, const std::string& bus) {
  return {.host = "h",
          .device = {.model = model,
                     .link = "nvlink",
                     .pci_bus = bus,
                     .power_limit_w = 700,
                     .max_sm_clock_mhz = 1980,
                     .ecc = true}};
}

TEST(Merge, the_slowest_rank_of_each_repetition_counts) {
  const Probe probe = CopyProbe{};
  const auto merged = merge(probe, {{.times = {us(1), us(9), us(2)}, .conditions = {1900, 600}},
                                    {.times = {us(3), us(1), us(2)}, .conditions = {1800, 500}}});
  ASSERT_TRUE(merged) << merged.error().message;
  const RankTimes slowest{us(3), us(9), us(2)};
  EXPECT_EQ(merged->time, summarize(slowest));
  EXPECT_FALSE(merged->collective_time);
  EXPECT_EQ(merged->conditions.sm_clock_mhz, 1800);
  EXPECT_EQ(merged->conditions.power_w, 600);
}

TEST(Merge, both_times_of_a_concurrent_probe) {
  const Samples samples{.times = {us(1)}, .collective_times = {us(2)}};
  const auto merged = merge(ConcurrentProbe{}, {samples, samples});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->collective_time->median, us(2));
  EXPECT_FALSE(merge(ConcurrentProbe{}, {{.times = {us(1)}}, {.times = {us(1)}}}));
}

TEST(Merge, ranks_that_disagree_are_an_error) {
  const Samples two{.times = {us(1), us(1)}};
  const Samples one{.times = {us(1)}};
  const auto merged = merge(CopyProbe{}, {two, one});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(merged.error().message.find("rank 1 timed 1 repetitions, rank 0 timed 2"),
            std::string::npos);
  EXPECT_FALSE(merge(CopyProbe{}, {Samples{}, Samples{}}));
}

TEST(Merge, ranks_that_take_no_part_may_have_no_times) {
  const Probe probe = CollectiveProbe{.ranks = 2};
  const Samples one{.times = {us(1)}};
  EXPECT_TRUE(merge(probe, {one, one, Samples{}, Samples{}}));
  EXPECT_FALSE(merge(probe, {one, Samples{}, Samples{}, Samples{}}));
}

TEST(Merge, the_worst_verdict_counts_and_names_its_rank) {
  const ConfigSamples valid{.times = {us(1)}};
  const ConfigSamples wrong{.verdict = Verdict::wrong, .reason = "off by 2"};
  const ConfigSamples unsupported{.verdict = Verdict::unsupported, .reason = "no"};
  const auto merged = merge({{.configs = {valid, unsupported}}, {.configs = {valid, wrong}}}, 2);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ((*merged)[0].verdict, Verdict::valid);
  EXPECT_EQ((*merged)[0].rank_times, (std::vector<RankTimes>{{us(1)}, {us(1)}}));
  EXPECT_EQ((*merged)[1].verdict, Verdict::wrong);
  EXPECT_EQ((*merged)[1].reason, "rank 1: off by 2");
  EXPECT_TRUE((*merged)[1].rank_times.empty());
}

TEST(Merge, what_runs_alone_and_what_was_seen) {
  const Activity first{.rank = 0, .name = "a"};
  const Activity second{.rank = 1, .name = "b"};
  const auto merged = merge({{.configs = {{.times = {us(1)}, .activities = {first}}},
                              .gemm_alone = {us(5), us(1)},
                              .collective_alone = {us(2), us(2)}},
                             {.configs = {{.times = {us(1)}, .activities = {second}}},
                              .gemm_alone = {us(4), us(2)},
                              .collective_alone = {us(3), us(1)}}},
                            1);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->front().gemm_alone, (RankTimes{us(5), us(2)}));
  EXPECT_EQ(merged->front().collective_alone, (RankTimes{us(3), us(2)}));
  EXPECT_EQ(merged->front().activities, (std::vector<Activity>{first, second}));
}

TEST(Merge, replies_for_other_configs_are_an_error) {
  EXPECT_FALSE(merge({RunReply{}, RunReply{}}, 1));
  EXPECT_FALSE(
      merge({{.configs = {{.times = {us(1)}}}}, {.configs = {{.times = {us(1), us(2)}}}}}, 1));
}

TEST(Merge, a_platform_is_named_for_gpu_fabric_and_count) {
  const auto platform = merge({hello_of("NVIDIA H200", "a"), hello_of("NVIDIA H200", "b")}, true);
  ASSERT_TRUE(platform) << platform.error().message;
  EXPECT_EQ(platform->machine, "cuda");
  EXPECT_EQ(platform->name, "h200-nvlink-x2");
  EXPECT_EQ(platform->gpu_count, 2);
  EXPECT_TRUE(platform->multicast_allowed);
  EXPECT_EQ(platform->details, "power limit 700 W, ECC on, max clock 1980 MHz");
  EXPECT_EQ(merge({hello_of("NVIDIA GeForce RTX 4090", "a")}, false)->name, "rtx-4090-nvlink-x1");
}

std::vector<Hello> four_of(const std::vector<std::string>& nodes) {
  std::vector<Hello> hellos;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    hellos.push_back(hello_of("NVIDIA H200", std::to_string(rank)));
    hellos.back().node = nodes[rank];
    hellos.back().device.topology = "NVSwitch x18";
    hellos.back().device.network = "Socket";
  }
  return hellos;
}

TEST(Merge, a_platform_of_several_nodes_says_what_joins_them) {
  const auto one = merge(four_of({"a", "a", "a", "a"}), false);
  const auto two = merge(four_of({"a", "a", "b", "b"}), false);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->name, "h200-nvlink-x4");
  EXPECT_EQ(one->link, "nvlink");
  EXPECT_EQ(two->name, "h200-nvlink-2x2-socket");
  EXPECT_EQ(two->topology, "2 nodes x 2 GPUs, NVSwitch x18");
  EXPECT_EQ(two->link, "network Socket");
  EXPECT_EQ(two->gpu_count, 4);
  EXPECT_NE(fingerprint(*one), fingerprint(*two));
  const auto alternating = merge(four_of({"a", "b", "a", "b"}), false);
  EXPECT_EQ(alternating->name, "h200-nvlink-2x2-in-turn-socket");
  EXPECT_NE(fingerprint(*alternating), fingerprint(*two));
}

/// Databases that were made before nodes were told apart keep their fingerprints.
TEST(Merge, one_node_has_the_fingerprint_that_it_always_had) {
  const auto one = merge(four_of({"a", "a", "a", "a"}), false);
  EXPECT_EQ(fingerprint(*one), "7b72931d771fc911");
}

TEST(Merge, hosts_that_are_set_up_unlike_show_it) {
  auto hellos = four_of({"a", "a", "b", "b"});
  hellos[2].device.network = hellos[3].device.network = "IB";
  EXPECT_EQ(merge(hellos, false)->link, "network IB+Socket");
}

TEST(Merge, an_odd_gpu_and_a_shared_one_are_errors) {
  const auto odd = merge(
      {hello_of("NVIDIA A100", "a"), hello_of("NVIDIA H200", "b"), hello_of("NVIDIA H200", "c")},
      false);
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("rank 0 on h has a NVIDIA A100"), std::string::npos);
  const auto shared = merge({hello_of("NVIDIA H200", "a"), hello_of("NVIDIA H200", "a")}, false);
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().message.find("ranks 0 and 1 share GPU a"), std::string::npos);
}

TEST(Merge, as_many_ranks_share_a_gpu_as_are_allowed) {
  const Hello a = hello_of("NVIDIA H200", "a");
  const Hello b = hello_of("NVIDIA H200", "b");
  const auto platform = merge({a, a, b, b}, false, 2);
  ASSERT_TRUE(platform) << platform.error().message;
  EXPECT_EQ(platform->name, "h200-shared_gpu-x4");
  EXPECT_EQ(platform->topology, "shared GPU");
  EXPECT_NE(fingerprint(*platform), fingerprint(*merge({a, b}, false)));
  const auto crowded = merge({a, a, a, b}, false, 2);
  ASSERT_FALSE(crowded);
  EXPECT_EQ(crowded.error().message, "ranks 1 and 2 share GPU a of h: start fewer ranks a GPU");
}

}  // namespace
}  // namespace overlaptune::cuda
