#include "core/capabilities.hpp"

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "core/gpu_sharing.hpp"
#include "core/nodes.hpp"

namespace overlaptune {
namespace {

Platform h200() {
  return {
      .machine = "cuda", .gpu_count = 8, .sms = 132, .compute_capability = 90, .link = "nvlink"};
}

std::vector<Transport> transports(const Platform& platform) {
  return transports_of(capabilities_of(platform));
}
std::vector<Strategy> strategies(const Platform& platform) {
  return strategies_of(capabilities_of(platform));
}

const std::vector<Transport> kAllTransports{Transport::ring, Transport::symmetric,
                                            Transport::copy_engine, Transport::peer_access};
const std::vector<Strategy> kAllStrategies{strategy_of<Sequential>(), strategy_of<Chunked>(),
                                           strategy_of<Signaled>(), strategy_of<Waiting>(),
                                           strategy_of<PeerStore>()};
/// Those of GPUs that do not reach each other's memory by NVLink.
const std::vector<Strategy> kStrategiesOfRings{strategy_of<Sequential>(), strategy_of<Chunked>(),
                                               strategy_of<Signaled>()};
/// Those of GPUs before Hopper, whose SMs have no copy engines.
const std::vector<Strategy> kStrategiesBefore{strategy_of<Sequential>(), strategy_of<Chunked>(),
                                              strategy_of<Signaled>()};
const std::vector<Strategy> kLibraryStrategies{strategy_of<Sequential>(), strategy_of<Chunked>()};

TEST(Capabilities, are_those_of_the_platform) {
  const Capabilities capabilities = capabilities_of(h200());
  EXPECT_EQ(capabilities.ranks, 8);
  EXPECT_EQ(capabilities.sms, 132);
  ASSERT_TRUE(capabilities.limits);
  EXPECT_EQ(capabilities.limits->compute_capability, 90);
  EXPECT_EQ(transports(h200()), kAllTransports);
  EXPECT_EQ(strategies(h200()), kAllStrategies);
}

TEST(Capabilities, of_gpus_that_do_not_reach_each_other_are_rings) {
  for (const char* carrier : {"host_memory", "socket", ""}) {
    Platform platform = h200();
    platform.link = carrier;
    EXPECT_EQ(transports(platform), std::vector{Transport::ring}) << carrier;
    EXPECT_EQ(strategies(platform), kStrategiesOfRings) << carrier;
    platform.machine = "sim";  // whose profile says what it has
    EXPECT_EQ(transports(platform), kAllTransports) << carrier;
    EXPECT_EQ(strategies(platform), kStrategiesOfRings) << carrier;  // no copies to peers
  }
}

TEST(Capabilities, of_several_nodes_are_rings_and_say_why) {
  Platform platform = h200();
  platform.topology = "2 nodes x 4 GPUs, NVSwitch x18";
  platform.link = network_link("IB");
  EXPECT_EQ(transports(platform), std::vector{Transport::ring});
  EXPECT_EQ(strategies(platform), kStrategiesOfRings);
  const Problem problem{Op::all_gather_gemm, 1024, 1024, 64, Elements::bf16, 8};
  const auto by_peers = check(problem, Chunked{.comm_ctas = 16, .transport = Transport::symmetric},
                              capabilities_of(platform));
  ASSERT_FALSE(by_peers);
  EXPECT_EQ(by_peers.error().message,
            "transport symmetric: not on this machine: it needs the memory of peers, and network "
            "IB joins their nodes");
  EXPECT_EQ(left_out_in_words(platform),
            "2 nodes x 4 GPUs, NVSwitch x18, joined by network IB: left out, as they need the "
            "memory of peers: waiting, peer_store, symmetric, copy_engine, peer_access");
  EXPECT_EQ(left_out_in_words(h200()), "");
}

TEST(Capabilities, of_ranks_that_share_a_gpu_are_all_but_windows) {
  Platform platform = h200();
  platform.link = kSharedLink;
  EXPECT_EQ(transports(platform),
            (std::vector{Transport::ring, Transport::copy_engine, Transport::peer_access}));
  EXPECT_EQ(strategies(platform), kAllStrategies);
}

TEST(Capabilities, include_generated_kernels_from_ampere_on) {
  for (const auto& [capability, generated] : {std::pair{70, false},
                                              {75, false},
                                              {80, true},
                                              {86, true},
                                              {89, true},
                                              {90, true},
                                              {100, true},
                                              {120, true}}) {
    Platform platform = h200();
    platform.compute_capability = capability;
    const auto& of_tiles = capability == 90 ? kAllStrategies : kStrategiesBefore;
    EXPECT_EQ(strategies(platform), generated ? of_tiles : kLibraryStrategies) << capability;
    platform.machine = "sim";
    EXPECT_EQ(strategies(platform), of_tiles) << capability;
  }
}

TEST(Capabilities, are_told_in_words) {
  Platform platform = h200();
  EXPECT_EQ(abilities_in_words(platform), "sequential, chunked, signaled, waiting, peer_store");
  platform.compute_capability = 100;  // B200
  EXPECT_EQ(abilities_in_words(platform),
            "sequential, chunked, signaled; the portable kernel, not tried on such GPUs");
  platform.compute_capability = 120;  // RTX 50
  platform.link = "pcie";
  EXPECT_EQ(abilities_in_words(platform),
            "sequential, chunked, signaled; the portable kernel, not tried on such GPUs");
  platform.compute_capability = 70;
  EXPECT_EQ(abilities_in_words(platform), "sequential, chunked; no generated kernel");
}

TEST(Capabilities, that_are_not_limited_have_everything) {
  EXPECT_EQ(transports_of({}), kAllTransports);
  EXPECT_EQ(strategies_of({}), kAllStrategies);
  EXPECT_TRUE(transports_of({.transports = {}}).empty());
  EXPECT_TRUE(strategies_of({.gemms = {}}).empty());
  EXPECT_EQ(
      strategies_of({.gemms = {GemmFamily::generated}}),
      (std::vector{strategy_of<Signaled>(), strategy_of<Waiting>(), strategy_of<PeerStore>()}));
}

TEST(Capabilities, judge_a_config_of_a_platform) {
  const Problem problem{Op::gemm_all_reduce, 1024, 1024, 64, Elements::bf16, 8};
  const Config windows = Chunked{.comm_ctas = 16, .transport = Transport::symmetric};
  EXPECT_TRUE(check(problem, windows, capabilities_of(h200())));
  Platform behind_a_bridge = h200();
  behind_a_bridge.link = "host_memory";
  EXPECT_FALSE(check(problem, windows, capabilities_of(behind_a_bridge)));
  Platform smaller = h200();
  smaller.gpu_count = 4;
  EXPECT_FALSE(check(problem, windows, capabilities_of(smaller)));
  Platform narrow = h200();
  narrow.sms = 16;
  EXPECT_FALSE(check(problem, windows, capabilities_of(narrow)));
}

/// Releases whose symmetric kernels look at `abortFlag`: its git history, v2.29.7-1.
TEST(Capabilities, have_symmetric_kernels_only_of_an_nccl_that_can_end_them) {
  const auto has = [](const char* machine, const char* nccl) {
    Platform platform = h200();
    platform.machine = machine;
    platform.nccl_version = nccl;
    return capabilities_of(platform).transports.contains(Transport::symmetric);
  };
  for (const char* old : {"2.27.7", "2.28.9", "2.29.3", "2.29"}) EXPECT_FALSE(has("cuda", old));
  for (const char* newer : {"2.29.7", "2.30.3", "3.0.1"}) EXPECT_TRUE(has("cuda", newer)) << newer;
  EXPECT_TRUE(has("sim", "2.28.9"));  // nothing waits for ever there
  EXPECT_TRUE(has("cuda", ""));       // unknown: a plan is refused when it is made
}

template <class Own>
concept HasTraits = requires {
  sizeof(TraitsOf<Own>);
};

TEST(Strategies, without_traits_do_not_compile) {
  EXPECT_TRUE(HasTraits<Sequential>);
  EXPECT_FALSE(HasTraits<int>);
}

/// The rows are found by the number of their strategy, which is that of its alternative.
TEST(Strategies, have_a_row_each_in_their_order) {
  EXPECT_EQ(to_string(strategy_of(Config{Waiting{}})), "waiting");
  EXPECT_EQ(to_string(strategy_of<PeerStore>()), "peer_store");
  ASSERT_EQ(kStrategies.size(), NamesOf<Strategy>::all.size());
  for (const auto& strategy : NamesOf<Strategy>::all) {
    EXPECT_EQ(traits_of(strategy.value).strategy, strategy.value) << strategy.name;
    EXPECT_EQ(strategy_of(default_config(strategy.value)), strategy.value) << strategy.name;
  }
}

}  // namespace
}  // namespace overlaptune
