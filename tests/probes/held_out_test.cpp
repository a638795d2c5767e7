#include "probes/held_out.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

std::vector<Measurement> probed_measurements() {
  std::vector<Measurement> list;
  for (const auto& [collective, name] : NamesOf<Collective>::all) {
    for (const int ctas : {0, 8, 16}) {
      for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 2) {
        list.push_back({.probe = CollectiveProbe{collective, {bytes}, 4, ctas}});
      }
    }
  }
  list.push_back({.probe = GemmProbe{.m = 64, .n = 64, .k = 64}});
  return list;
}

TEST(HeldOut, collectives_are_new_points_of_probed_settings) {
  const auto measurements = probed_measurements();
  std::set<std::string> probed;
  for (const Measurement& measurement : measurements) probed.insert(to_string(measurement.probe));
  const auto points = held_out_collectives(measurements, 200, 7);
  ASSERT_EQ(points.size(), 200U);
  std::set<std::string> seen;
  std::set<Collective> collectives;
  for (const Probe& point : points) {
    const auto& probe = std::get<CollectiveProbe>(point);
    EXPECT_FALSE(probed.contains(to_string(point)));
    EXPECT_TRUE(seen.insert(to_string(point)).second);
    EXPECT_EQ(probe.bytes.count % (4 * 512 * bytes_of(Dtype::bf16)),
              0);  // whole rows on every rank
    EXPECT_TRUE(probe.comm_ctas == 0 || probe.comm_ctas == 8 || probe.comm_ctas == 16);
    EXPECT_EQ(probe.ranks, 4);
    collectives.insert(probe.collective);
  }
  EXPECT_EQ(collectives.size(), NamesOf<Collective>::all.size());
}

TEST(HeldOut, the_same_seed_draws_the_same_points) {
  auto measurements = probed_measurements();
  const auto once = held_out_collectives(measurements, 30, 1);
  std::reverse(measurements.begin(), measurements.end());
  EXPECT_EQ(held_out_collectives(measurements, 30, 1), once);
  EXPECT_NE(held_out_collectives(measurements, 30, 2), once);
}

/// 256 ranks move 1 MiB at least: there are not many more points of one setting.
TEST(HeldOut, where_there_are_few_points_they_are_fewer) {
  const std::vector<Measurement> one{{.probe = CollectiveProbe{Collective::all_reduce, {0}, 256}}};
  const auto points = held_out_collectives(one, 5'000, 7);
  EXPECT_GT(points.size(), 100U);
  EXPECT_LT(points.size(), 5'000U);
}

TEST(HeldOut, nothing_probed_gives_no_points) {
  EXPECT_TRUE(held_out_collectives({}, 10, 1).empty());
}

TEST(HeldOut, each_gemm_once) {
  const std::vector<Problem> problems{{Op::gemm_all_reduce, 1024, 512, 256, Elements::bf16, 8},
                                      {Op::gemm_reduce_scatter, 1024, 512, 256, Elements::bf16, 8},
                                      {Op::gemm_all_reduce, 2048, 512, 256, Elements::bf16, 8}};
  EXPECT_EQ(gemms_of(problems).size(), 2U);
}

}  // namespace
}  // namespace overlaptune
