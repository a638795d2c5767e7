#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "probes/peers.hpp"

namespace overlaptune {
namespace {

const Platform kPlatform{
    .machine = "sim", .name = "test", .gpu_count = 8, .sms = 132, .compute_capability = 90};
constexpr std::array<Transport, 2> kTransports{Transport::ring, Transport::symmetric};
constexpr std::array<int, 1> kRanks{8};

using Kinds = std::array<int, std::variant_size_v<Probe>>;

/// Whether there is a probe of each kind, except those of pairs, which the model does not need, and
/// operations of layers, which no machine measures.
bool has_all(const Kinds& kinds) {
  const std::size_t pairs = Probe(PeerProbe{}).index();
  const std::size_t layers = Probe(LayerProbe{}).index();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if ((kinds[kind] > 0) == (kind == pairs || kind == layers)) return false;
  }
  return true;
}

TEST(ProbePlan, quick_has_every_kind_and_nothing_that_full_lacks) {
  const auto full = probe_plan(kPlatform, kTransports, kRanks);
  const auto quick = probe_plan(kPlatform, kTransports, kRanks, ProbeDepth::quick);
  EXPECT_LT(quick.size(), full.size() / 4);
  Kinds kinds{};
  for (const Probe& probe : quick) {
    ++kinds[probe.index()];
    EXPECT_NE(std::find(full.begin(), full.end(), probe), full.end()) << to_string(probe);
  }
  EXPECT_TRUE(has_all(kinds));
}

TEST(ProbePlan, library_gemms_grow) {
  double last = 0;
  for (const Probe& probe : probe_plan(kPlatform, kTransports, kRanks)) {
    if (std::holds_alternative<ConcurrentProbe>(probe)) break;
    const auto* gemm = std::get_if<GemmProbe>(&probe);
    if (gemm == nullptr || !gemm->tile.is_library()) continue;
    if (gemm->m == 4096 && gemm->n == 8192) continue;  // those of the contention probes
    const double macs =
        static_cast<double>(gemm->m) * static_cast<double>(gemm->n) * static_cast<double>(gemm->k);
    EXPECT_GE(macs, last);
    last = macs;
  }
  EXPECT_GT(last, 0);
}

// The clock under load is fitted to these, so tiles must differ in loads, and SM counts too.
TEST(ProbePlan, tiles_are_sustained_on_all_sms_and_on_fewer) {
  const auto plan = probe_plan(kPlatform, kTransports, std::array{2, 8});
  std::map<std::pair<double, int>, std::set<int>> sms;
  for (const Probe& probe : plan) {
    const auto* sustained = std::get_if<SustainedProbe>(&probe);
    if (sustained == nullptr || sustained->gemm.tile.is_library()) continue;
    const Tile& tile = sustained->gemm.tile;
    EXPECT_TRUE(is_feasible(tile, gpu_limits(90), Elements::bf16)) << to_string(probe);
    EXPECT_EQ(sustained->gemm.m, 8192);
    EXPECT_EQ(sustained->gemm.n, 8192);
    EXPECT_EQ(sustained->gemm.k, 4096);
    EXPECT_EQ(sustained->gemm.swizzle, 8);
    EXPECT_EQ(sustained->collective.ranks, 8);
    EXPECT_EQ(sustained->collective.bytes.count, 4096);
    const Probe alone = sustained->collective;
    EXPECT_NE(std::find(plan.begin(), plan.end(), alone), plan.end()) << to_string(probe);
    sms[{1.0 / tile.block_m + 1.0 / tile.block_n, tile.cluster}].insert(sustained->gemm.sms);
  }
  EXPECT_EQ(sms.size(), 4U);
  for (const auto& [loads, counts] : sms) EXPECT_EQ(counts, (std::set{0, 116}));
  for (const Probe& probe : probe_plan(kPlatform, kTransports, kRanks, ProbeDepth::quick)) {
    const auto* sustained = std::get_if<SustainedProbe>(&probe);
    EXPECT_TRUE(sustained == nullptr || sustained->gemm.tile.is_library()) << to_string(probe);
  }
}

/// C is 8192 x 8192 of 2 bytes, 128 MiB. A collective has k / 1024 of it, whole, halved or in
/// eight.
TEST(ProbePlan, sustained_collectives_have_these_sizes) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  using Sizes = std::set<std::pair<std::int64_t, std::int64_t>>;  // k, MiB
  const auto sizes = [&](std::string_view link, ProbeDepth depth) {
    Platform platform = kPlatform;
    platform.link = link;
    Sizes found;
    for (const Probe& probe : probe_plan(platform, kTransports, kRanks, depth)) {
      const auto* sustained = std::get_if<SustainedProbe>(&probe);
      if (sustained == nullptr || sustained->collective.bytes.count < kMebibyte / 2) continue;
      EXPECT_EQ(sustained->collective.comm_ctas, 0);
      found.emplace(sustained->gemm.k, sustained->collective.bytes.count / (kMebibyte / 2));
    }
    return found;
  };
  // In halves of a MiB.
  EXPECT_EQ(sizes("nvlink", ProbeDepth::full),
            (Sizes{{2048, 64}, {2048, 512}, {8192, 256}, {8192, 1024}, {8192, 2048}}));
  EXPECT_EQ(sizes("nvlink", ProbeDepth::quick), (Sizes{{8192, 256}}));
  // A link of a 64th of the rate.
  EXPECT_EQ(sizes("socket", ProbeDepth::full),
            (Sizes{{2048, 1}, {2048, 8}, {8192, 4}, {8192, 16}, {8192, 32}}));
}

/// Concurrent probes by the CTAs of NCCL's ring, beside GEMMs of the library and generated ones.
struct Beside {
  std::map<int, int> library;
  std::map<int, int> generated;
};

Beside beside_ring(ProbeDepth depth) {
  constexpr std::array<Transport, 1> kRing{Transport::ring};
  Beside found;
  for (const Probe& probe : probe_plan(kPlatform, kRing, kRanks, depth)) {
    const auto* both = std::get_if<ConcurrentProbe>(&probe);
    if (both == nullptr) continue;
    const int ctas = both->collective.comm_ctas;
    EXPECT_EQ(both->gemm.sms, ctas == 0 ? 0 : 132 - ctas);
    ++(both->gemm.tile.is_library() ? found.library : found.generated)[ctas];
  }
  return found;
}

TEST(ProbePlan, gemms_run_beside_these_collectives) {
  // Four collectives: a small and a large one beside k = 8192, a large one beside k = 1024.
  const Beside full = beside_ring(ProbeDepth::full);
  EXPECT_EQ(full.library,
            (std::map<int, int>{{2, 12}, {4, 12}, {8, 12}, {12, 12}, {16, 12}, {32, 12}}));
  // Three collectives (none of NCCL beside a GEMM that waits for rows), two depths, and with 16
  // CTAs a second tile.
  EXPECT_EQ(full.generated, (std::map<int, int>{{0, 6}, {8, 6}, {16, 12}, {32, 6}}));
  const Beside quick = beside_ring(ProbeDepth::quick);
  EXPECT_EQ(quick.library, (std::map<int, int>{{16, 4}}));
  EXPECT_EQ(quick.generated, (std::map<int, int>{{16, 3}}));
}

/// The collectives that are probed by a transport, alone.
std::vector<CollectiveProbe> collectives_by(Transport transport) {
  std::vector<CollectiveProbe> found;
  for (const Probe& probe : probe_plan(kPlatform, std::array{transport}, kRanks)) {
    const auto* alone = std::get_if<CollectiveProbe>(&probe);
    if (alone != nullptr && alone->transport == transport) found.push_back(*alone);
  }
  return found;
}

TEST(ProbePlan, copies_are_probed_as_candidates_use_them) {
  std::set<int> ctas;
  std::set<std::int64_t> beside;
  std::set<std::int64_t> after;
  for (const CollectiveProbe& probe : collectives_by(Transport::copy_engine)) {
    if (probe.comm_ctas == 0) {
      after.insert(probe.bytes.count);
      continue;
    }
    ctas.insert(probe.comm_ctas);
    beside.insert(probe.bytes.count);
    EXPECT_NE(probe.collective, Collective::all_gather);
  }
  EXPECT_EQ(ctas, (std::set{4, 8, 16}));
  EXPECT_EQ(beside, (std::set<std::int64_t>{1 << 20, 1 << 26, 1 << 28}));
  // 64 KiB to 1 GiB, by powers of four.
  EXPECT_EQ(after.size(), 8U);
  EXPECT_EQ(*after.begin(), 1 << 16);
  EXPECT_EQ(*after.rbegin(), 1 << 30);
}

TEST(ProbePlan, collectives_take_less_than_half_of_the_sms) {
  for (const auto& [sms, most] : {std::pair(66, 32), {64, 24}, {34, 16}, {32, 12}}) {
    Platform small = kPlatform;
    small.sms = sms;
    int ctas = 0;
    for (const Probe& probe : probe_plan(small, kTransports, kRanks)) {
      const auto* collective = std::get_if<CollectiveProbe>(&probe);
      if (collective != nullptr) ctas = std::max(ctas, collective->comm_ctas);
    }
    EXPECT_EQ(ctas, most) << sms << " SMs";
  }
}

TEST(ProbePlan, few_ctas_reach_the_memory_of_peers) {
  std::set<int> ctas;
  std::set<std::int64_t> sizes;
  for (const CollectiveProbe& probe : collectives_by(Transport::peer_access)) {
    ctas.insert(probe.comm_ctas);
    sizes.insert(probe.bytes.count);
  }
  EXPECT_EQ(ctas, (std::set{2, 4, 6, 8, 12, 16}));
  EXPECT_EQ(*sizes.begin(), 4096);
  EXPECT_EQ(sizes.size(), 10U);  // to 1 GiB, by powers of four
}

/// GEMMs alone: shapes for the library, for generated tiles, misaligned ones, and tiles with
/// swap-AB.
TEST(ProbePlan, has_so_many_gemms) {
  const auto count = [](ProbeDepth depth) {
    int library = 0;
    int generated = 0;
    int swap_ab = 0;
    for (const Probe& probe : probe_plan(kPlatform, kTransports, kRanks, depth)) {
      const auto* gemm = std::get_if<GemmProbe>(&probe);
      if (gemm == nullptr || (gemm->m == 4096 && gemm->n == 8192)) continue;  // beside collectives
      if (gemm->tile.is_library()) {
        ++library;
      } else if (gemm->tile.swaps_ab()) {
        ++swap_ab;
      } else {
        ++generated;
      }
    }
    return std::array{library, generated, swap_ab};
  };
  EXPECT_EQ(count(ProbeDepth::full), (std::array{160, 192 + 24, 24}));
  EXPECT_EQ(count(ProbeDepth::quick), (std::array{26 + 8, 32 + 4, 4}));
}

TEST(ProbePlan, drawn_gemms_have_every_swizzle_and_half_of_them_all_sms) {
  struct Drawn {
    std::set<int> swizzles;
    std::set<int> sms;
    int with_all = 0;
    int count = 0;
  };
  std::map<bool, Drawn> drawn;
  for (const Probe& probe : probe_plan(kPlatform, std::span<const Transport>(), kRanks)) {
    const auto* gemm = std::get_if<GemmProbe>(&probe);
    if (gemm == nullptr || gemm->tile.is_library()) continue;
    Drawn& own = drawn[gemm->tile.swaps_ab()];
    own.swizzles.insert(gemm->swizzle);
    own.sms.insert(gemm->sms);
    own.with_all += gemm->sms == 0 ? 1 : 0;
    ++own.count;
  }
  EXPECT_EQ(drawn[false].count, 192 + 24);
  EXPECT_EQ(drawn[true].count, 24);
  for (const auto& [swap_ab, own] : drawn) {
    EXPECT_EQ(own.swizzles, (std::set{1, 2, 4, 8, 16})) << swap_ab;
    EXPECT_NEAR(own.with_all, own.count / 2.0, own.count / 8.0) << swap_ab;
  }
  // 132 SMs less those of the collectives' CTAs: 2 to 32.
  EXPECT_EQ(drawn[false].sms, (std::set{0, 100, 108, 116, 120, 124, 126, 128, 130}));
}

TEST(ProbePlan, their_kernels_are_compiled_first) {
  const Tile tile{128, 128, 64, 4, 1};
  const GemmProbe gemm{.m = 1, .n = 1, .k = 1, .tile = tile};
  const std::array<Probe, 4> probes{SustainedProbe{gemm, {}}, ConcurrentProbe{gemm, {}},
                                    SustainedProbe{}, CollectiveProbe{}};
  EXPECT_EQ(kernels_of(probes),
            (std::vector{TiledKernel{.tile = tile, .elements = gemm.elements}}));
  EXPECT_EQ(kernels_of(std::span(probes).first(1)).size(), 1U);
}

TEST(ProbePlan, no_probe_twice) {
  auto plan = probe_plan(kPlatform, kTransports, kRanks);
  std::sort(plan.begin(), plan.end());
  EXPECT_EQ(std::adjacent_find(plan.begin(), plan.end()), plan.end());
}

Platform linked_by(std::string_view link) {
  Platform platform = kPlatform;
  platform.link = link;
  return platform;
}

/// Bytes of the collective of a probe, as often as it is at least executed.
struct Executed {
  double operator()(const CollectiveProbe& probe) const { return 6 * bytes(probe); }
  double operator()(const ConcurrentProbe& probe) const { return 30 * bytes(probe.collective); }
  double operator()(const SustainedProbe& probe) const { return 12 * bytes(probe.collective); }
  double operator()(const auto& /*probe*/) const { return 0; }
  static double bytes(const CollectiveProbe& probe) {
    return static_cast<double>(probe.bytes.count);
  }
};

double bytes_of(const std::vector<Probe>& plan) {
  double sum = 0;
  for (const Probe& probe : plan) sum += std::visit(Executed{}, probe);
  return sum;
}

TEST(PeerPlan, has_each_ordered_pair_in_both_sizes) {
  for (const char* link : {"nvlink", "pcie"}) {
    const auto plan = peer_plan(linked_by(link), ProbeDepth::full);
    EXPECT_EQ(plan.size(), 2U * 8U * 7U);
    std::set<std::pair<int, int>> pairs;
    std::set<std::int64_t> sizes;
    for (const Probe& probe : plan) {
      const auto& peer = std::get<PeerProbe>(probe);
      EXPECT_NE(peer.from, peer.to);
      pairs.emplace(peer.from, peer.to);
      sizes.insert(peer.bytes.count);
    }
    EXPECT_EQ(pairs.size(), 8U * 7U);
    EXPECT_EQ(sizes.size(), 2U);
  }
  EXPECT_EQ(peer_plan(linked_by("nvlink"), ProbeDepth::quick).size(), 8U * 7U);
}

TEST(PeerPlan, is_empty_with_a_reason) {
  for (const char* link : {"host_memory", "socket"}) {
    EXPECT_TRUE(peer_plan(linked_by(link), ProbeDepth::full).empty()) << link;
    EXPECT_NE(why_no_peers(linked_by(link)).find(link), std::string::npos);
  }
  Platform large = linked_by("nvlink");
  large.gpu_count = kMostPeers;
  EXPECT_EQ(why_no_peers(large), "");
  large.gpu_count = kMostPeers + 1;
  EXPECT_TRUE(peer_plan(large, ProbeDepth::full).empty());
  EXPECT_NE(why_no_peers(large).find("at most 16 GPUs"), std::string::npos);
}

/// The probes that tuning needs have no pairs.
TEST(PeerPlan, is_apart_from_the_probes_of_the_model) {
  for (const Probe& probe : probe_plan(linked_by("nvlink"), kTransports, kRanks)) {
    EXPECT_FALSE(std::holds_alternative<PeerProbe>(probe)) << to_string(probe);
  }
}

/// At 1 GB/s, less than NCCL moves through sockets of one host.
TEST(ProbePlan, over_sockets_takes_minutes) {
  constexpr std::array<Transport, 1> kRing{Transport::ring};
  constexpr double kRate = 1e9;
  const auto seconds = [&](std::string_view link, ProbeDepth depth) {
    return bytes_of(probe_plan(linked_by(link), kRing, kRanks, depth)) / kRate;
  };
  EXPECT_LT(seconds("socket", ProbeDepth::full), 120);
  EXPECT_LT(seconds("socket", ProbeDepth::quick), 30);
  EXPECT_GT(seconds("host_memory", ProbeDepth::full), 3 * seconds("socket", ProbeDepth::full));
}

TEST(ProbePlan, over_sockets_has_every_kind_and_collective) {
  constexpr std::array<Transport, 1> kRing{Transport::ring};
  for (const ProbeDepth depth : {ProbeDepth::quick, ProbeDepth::full}) {
    Kinds kinds{};
    std::set<std::pair<Collective, int>> settings;
    for (const Probe& probe : probe_plan(linked_by("socket"), kRing, kRanks, depth)) {
      ++kinds[probe.index()];
      const auto* collective = std::get_if<CollectiveProbe>(&probe);
      if (collective == nullptr) continue;
      settings.emplace(collective->collective, collective->comm_ctas);
      EXPECT_LE(collective->bytes.count, std::int64_t{256} << 20);
      EXPECT_LE(collective->comm_ctas, 16);
    }
    EXPECT_TRUE(has_all(kinds));
    // Four collectives: NCCL's choice of CTAs, and 16 or six numbers of them.
    EXPECT_EQ(settings.size(), depth == ProbeDepth::full ? 4U * 7U : 4U * 2U);
  }
}

std::vector<Probe> without_copies(std::vector<Probe> plan) {
  std::erase_if(plan, [](const Probe& probe) { return std::holds_alternative<CopyProbe>(probe); });
  return plan;
}

/// NCCL's sockets are as slow between nodes as within one. Copies go from neighbour to neighbour.
TEST(ProbePlan, between_nodes_has_no_copies_and_is_that_of_the_network) {
  for (const ProbeDepth depth : {ProbeDepth::quick, ProbeDepth::full}) {
    const auto plan = [&](std::string_view link) {
      return probe_plan(linked_by(link), kTransports, kRanks, depth);
    };
    EXPECT_EQ(plan("network Socket"), without_copies(plan("socket")));
    EXPECT_EQ(plan("network IB"), without_copies(plan("nvlink")));
    EXPECT_LT(plan("network IB").size(), plan("nvlink").size());
  }
}

TEST(ProbePlan, over_sockets_has_fewer_sizes) {
  constexpr std::array<Transport, 1> kRing{Transport::ring};
  const auto sizes = [&](std::string_view link) {
    std::set<std::int64_t> found;
    for (const Probe& probe : probe_plan(linked_by(link), kRing, kRanks)) {
      const auto* collective = std::get_if<CollectiveProbe>(&probe);
      if (collective != nullptr && collective->comm_ctas == 2)
        found.insert(collective->bytes.count);
    }
    return found;
  };
  // 4 KiB to 256 MiB by powers of four, or to 64 MiB by powers of two and then 256 MiB and 1 GiB.
  EXPECT_EQ(sizes("network Socket").size(), 9U);
  EXPECT_EQ(sizes("network IB").size(), 17U);
}

TEST(ProbePlan, is_the_same_over_all_other_links) {
  const auto usual = probe_plan(kPlatform, kTransports, kRanks);
  for (const char* link : {"nvlink", "pcie", "host_memory"}) {
    EXPECT_EQ(probe_plan(linked_by(link), kTransports, kRanks), usual) << link;
  }
}

}  // namespace
}  // namespace overlaptune
