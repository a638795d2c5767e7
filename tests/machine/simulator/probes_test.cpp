#include <cmath>

#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "machine/catalogue.hpp"

namespace overlaptune {
namespace {

constexpr Tile kProbed{128, 256, 64, 4, 2};

std::unique_ptr<Machine> probed_machine(std::uint64_t seed = 0) {
  return value_or_throw(open_machine("sim:h200-rings-x8", {.seed = seed}));
}

double median_of(const Probe& probe, std::uint64_t seed = 0) {
  return value_or_throw(probed_machine(seed)->measure(probe)).time.median.count();
}

GemmProbe gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m, .n = n, .k = k, .tile = kProbed, .swizzle = 8};
}

TEST(SimProbes, every_kind_gives_ordered_quantiles) {
  const CollectiveProbe collective{
      .collective = Collective::all_reduce, .bytes = {1 << 24}, .ranks = 8, .comm_ctas = 16};
  const std::vector<Probe> probes{
      gemm(4096, 8192, 1024), collective, ConcurrentProbe{gemm(4096, 8192, 4096), collective},
      CopyProbe{.bytes = {1 << 20}, .ctas = 4}, LaunchProbe{LaunchCost::signal_trigger}};
  for (const Probe& probe : probes) {
    const Measurement found = value_or_throw(probed_machine()->measure(probe));
    EXPECT_EQ(to_string(found.probe), to_string(probe));
    EXPECT_GT(found.time.p10.count(), 0) << to_string(probe);
    EXPECT_LE(found.time.p10, found.time.median) << to_string(probe);
    EXPECT_LE(found.time.median, found.time.p90) << to_string(probe);
    EXPECT_LT(found.time.p90 / found.time.p10, 1.1) << to_string(probe);
    EXPECT_EQ(found.collective_time.has_value(), std::holds_alternative<ConcurrentProbe>(probe));
  }
}

TEST(SimProbes, the_seed_alone_decides_the_noise) {
  const Probe probe = gemm(4096, 8192, 1024);
  EXPECT_EQ(median_of(probe, 1), median_of(probe, 1));
  EXPECT_NE(median_of(probe, 1), median_of(probe, 2));
  EXPECT_NEAR(median_of(probe, 1) / median_of(probe, 2), 1, 0.02);
}

TEST(SimProbes, a_gemm_takes_longer_with_fewer_sms_or_more_work) {
  GemmProbe fewer = gemm(8192, 8192, 2048);
  fewer.sms = 66;
  const double whole = median_of(gemm(8192, 8192, 2048));
  EXPECT_GT(median_of(fewer), 1.6 * whole);
  EXPECT_LT(median_of(fewer), 2.05 * whole);
  EXPECT_NEAR(median_of(gemm(8192, 8192, 4096)) / whole, 2, 0.25);
}

// Tile times are smooth enough to be learned from few probes: neighbours differ little.
TEST(SimProbes, neighbouring_tiles_take_similar_time_for_the_same_work) {
  for (int block_n = 64; block_n + 16 <= 256; block_n += 16) {
    const auto per_flop = [](int n) {
      // One tile per SM, so that no rounding to waves enters.
      const GemmProbe probe{
          .m = 128 * 11, .n = n * 12, .k = 8192, .tile = {128, n, 64, 4, 1}, .swizzle = 4};
      return median_of(probe) / n;
    };
    EXPECT_NEAR(per_flop(block_n + 16) / per_flop(block_n), 1, 0.2) << block_n;
  }
}

TEST(SimProbes, a_second_wave_costs_a_whole_tile) {
  const double one = median_of({gemm(128 * 66, 256 * 2, 8192)});
  const double just_more = median_of({gemm(128 * 67, 256 * 2, 8192)});
  EXPECT_GT(just_more, 1.7 * one);
}

TEST(SimProbes, launch_costs_match_what_runs_pay) {
  EXPECT_NEAR(median_of(LaunchProbe{LaunchCost::graph_replay}), 3.5, 0.2);
  // 10^6 bytes at the copy bandwidth of the profile.
  EXPECT_NEAR(median_of(LaunchProbe{LaunchCost::reorder_per_mb}), 1e6 / 1.5e6, 0.02);
  // The copy uses 8 SMs of 41 GB/s each.
  EXPECT_NEAR(median_of(LaunchProbe{LaunchCost::reorder_on_few_sms_per_mb}), 1e6 / (8 * 41e3), 0.1);
}

TEST(SimProbes, copies_reach_the_measured_bandwidths) {
  const auto gb_per_s = [](const CopyProbe& probe) {
    const double replay = median_of(LaunchProbe{LaunchCost::graph_replay});
    return static_cast<double>(probe.bytes.count) / (median_of(probe) - replay) * 1e-3;
  };
  // Without the replay of the graph, which every time contains. The values are from
  // h200_peer_copy.csv.
  EXPECT_NEAR(gb_per_s({.bytes = {64 << 20}}), 388.9, 12);
  EXPECT_NEAR(gb_per_s({.bytes = {1 << 20}}), 213.1, 15);
  EXPECT_NEAR(gb_per_s({.bytes = {64 << 20}, .ctas = 1}), 37.8, 1.5);
  EXPECT_NEAR(gb_per_s({.bytes = {64 << 20}, .ctas = 132}), 361.6, 12);
}

TEST(SimProbes, a_pair_of_gpus_copies_as_neighbours_do) {
  const double neighbours = median_of(CopyProbe{.bytes = {256 << 20}});
  EXPECT_NEAR(median_of(PeerProbe{{256 << 20}, 0, 7}) / neighbours, 1, 0.03);
  EXPECT_NEAR(median_of(PeerProbe{{256 << 20}, 6, 1}) / neighbours, 1, 0.03);
}

TEST(SimProbes, what_cannot_be_done_is_bad_input_that_names_the_probe) {
  const auto refused = [](const Probe& probe, const std::string& part) {
    const auto found = probed_machine()->measure(probe);
    ASSERT_FALSE(found) << to_string(probe);
    EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(found.error().message.find("probe "), 0U);
    EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
  };
  GemmProbe infeasible = gemm(1024, 1024, 1024);
  infeasible.tile.stages = 7;
  refused(infeasible, "does not fit");
  refused(gemm(1 << 18, 1 << 18, 1 << 13), "GiB");
  refused(gemm(0, 1024, 1024), "m");
  refused(gemm(1024, 1021, 1024), "n");
  GemmProbe crowded = gemm(1024, 1024, 1024);
  crowded.sms = 133;
  refused(crowded, "sms = 133");
  CollectiveProbe collective{.collective = Collective::all_gather, .bytes = {4096}, .ranks = 16};
  refused(collective, "has 8 GPUs");
  collective.ranks = 8;
  collective.transport = Transport::symmetric;
  refused(collective, "symmetric");
  collective.transport = Transport::ring;
  collective.comm_ctas = 500;
  refused(collective, "comm_ctas");
  refused(ConcurrentProbe{{.m = 1024, .n = 1024, .k = 1024},
                          {.collective = Collective::all_gather, .bytes = {4096}, .ranks = 8}},
          "comm_ctas = 0");
  refused(CopyProbe{.bytes = {0}}, "1 byte");
  refused(PeerProbe{{4096}, 0, 8}, "GPUs 0 to 7");
  refused(PeerProbe{{4096}, -1, 3}, "GPUs 0 to 7");
  refused(PeerProbe{{4096}, 3, 3}, "two of the GPUs");
  refused(LayerProbe{LayerWork::norm, 4096}, "scripts/compare-step --store");
}

}  // namespace
}  // namespace overlaptune
