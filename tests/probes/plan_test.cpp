#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "probes/probes.hpp"

namespace overlaptune {
namespace {

const Platform kPlatform{
    .machine = "sim", .name = "test", .gpu_count = 8, .sms = 132, .compute_capability = 90};
constexpr std::array<Transport, 2> kTransports{Transport::ring, Transport::symmetric};
constexpr std::array<int, 1> kRanks{8};

TEST(ProbePlan, quick_has_every_kind_and_nothing_that_full_lacks) {
  const auto full = probe_plan(kPlatform, kTransports, kRanks);
  const auto quick = probe_plan(kPlatform, kTransports, kRanks, ProbeDepth::quick);
  EXPECT_LT(quick.size(), full.size() / 4);
  std::array<int, std::variant_size_v<Probe>> kinds{};
  for (const Probe& probe : quick) {
    ++kinds[probe.index()];
    EXPECT_NE(std::find(full.begin(), full.end(), probe), full.end()) << to_string(probe);
  }
  for (const int count : kinds) EXPECT_GT(count, 0);
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
    std::array<int, std::variant_size_v<Probe>> kinds{};
    std::set<std::pair<Collective, int>> settings;
    for (const Probe& probe : probe_plan(linked_by("socket"), kRing, kRanks, depth)) {
      ++kinds[probe.index()];
      const auto* collective = std::get_if<CollectiveProbe>(&probe);
      if (collective == nullptr) continue;
      settings.emplace(collective->collective, collective->comm_ctas);
      EXPECT_LE(collective->bytes.count, std::int64_t{256} << 20);
      EXPECT_LE(collective->comm_ctas, 16);
    }
    for (const int count : kinds) EXPECT_GT(count, 0);
    // Four collectives: NCCL's choice of CTAs, and 16 or six numbers of them.
    EXPECT_EQ(settings.size(), depth == ProbeDepth::full ? 4U * 7U : 4U * 2U);
  }
}

TEST(ProbePlan, is_the_same_over_all_other_links) {
  const auto usual = probe_plan(kPlatform, kTransports, kRanks);
  for (const char* link : {"nvlink", "pcie", "host_memory"}) {
    EXPECT_EQ(probe_plan(linked_by(link), kTransports, kRanks), usual) << link;
  }
}

}  // namespace
}  // namespace overlaptune
