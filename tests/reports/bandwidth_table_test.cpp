#include "reports/table/bandwidth_table.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Measurement measured(Collective collective, std::int64_t bytes, int ranks, int ctas,
                     Transport transport, double time) {
  return {.probe = CollectiveProbe{collective, {bytes}, ranks, ctas, transport},
          .time = {.median = us(time)}};
}

std::vector<Measurement> some() {
  using enum Collective;
  using enum Transport;
  std::vector<Measurement> list{
      measured(all_gather, 4000, 4, 0, ring, 2),
      {.probe = LaunchProbe{}, .time = {.median = us(1)}},
  };
  // Five sizes; the symmetric windows are faster at the largest one only.
  for (const std::int64_t bytes : {1000, 2000, 4000, 8000, 16000}) {
    const double time = static_cast<double>(bytes) / 100;
    list.push_back(measured(all_reduce, bytes, 8, 0, ring, time));
    list.push_back(measured(all_reduce, bytes, 8, 16, symmetric, bytes == 16000 ? 80 : 2 * time));
  }
  return list;
}

TEST(BandwidthTable, the_fastest_of_three_sizes) {
  const auto rows = to_json_rows(bandwidth_table(some(), false));
  ASSERT_EQ(rows.size(), 3U + 1U);
  EXPECT_EQ(rows[0].at("bytes"), 1000);
  EXPECT_EQ(rows[1].at("bytes"), 4000);
  EXPECT_EQ(rows[1].at("transport"), "ring");
  EXPECT_TRUE(rows[1].at("comm_ctas").is_null());
  // 16000 bytes in 80 us; each rank of an all-reduce sends 2 * 7/8 of them.
  EXPECT_EQ(rows[2].at("bytes"), 16000);
  EXPECT_EQ(rows[2].at("transport"), "symmetric");
  EXPECT_EQ(rows[2].at("comm_ctas"), 16);
  EXPECT_DOUBLE_EQ(rows[2].at("algbw_gb_per_s"), 0.2);
  EXPECT_DOUBLE_EQ(rows[2].at("busbw_gb_per_s"), 0.35);
  // A single size is one line.
  EXPECT_EQ(rows[3].at("collective"), "all_gather");
  EXPECT_DOUBLE_EQ(rows[3].at("algbw_gb_per_s"), 2);
  EXPECT_DOUBLE_EQ(rows[3].at("busbw_gb_per_s"), 1.5);
}

TEST(BandwidthTable, every_point_is_each_collective_once) {
  EXPECT_EQ(bandwidth_table(some(), true).rows.size(), 11U);
  EXPECT_TRUE(bandwidth_table({}, false).rows.empty());
}

}  // namespace
}  // namespace overlaptune
