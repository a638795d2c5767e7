#include <algorithm>
#include <array>

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

}  // namespace
}  // namespace overlaptune
