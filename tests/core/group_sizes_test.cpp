#include "core/config/group_sizes.hpp"

#include <gtest/gtest.h>

#include "config_cases.hpp"
#include "enumerated_tiles.hpp"

namespace overlaptune {
namespace {

TEST(GroupSizes, of_wave_groups_are_those_of_their_tiles) {
  int seen = 0;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      const auto work = Work::make(problem, config);
      if (strategy_of(config) != strategy_of<Signaled>() || !work) continue;
      const auto tiles = enumerated_tiles(work->tiled().order);
      const auto groups = wave_groups_of(config);
      const auto sizes = group_sizes(*work);
      ASSERT_EQ(sizes.size(), groups.size());
      std::size_t tile = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        ASSERT_EQ(sizes[i].tiles, groups[i]);
        std::int64_t bytes = 0;
        for (std::int64_t t = 0; t < groups[i]; ++t, ++tile) {
          bytes += 2 * tiles[tile].rows * tiles[tile].columns;
        }
        ASSERT_EQ(sizes[i].bytes.count, bytes);
      }
      ++seen;
    }
  }
  EXPECT_GT(seen, 500);
}

TEST(GroupSizes, of_chunks_are_their_rows_of_the_buffer) {
  // 3 chunks of 1024 rows of each of 4 blocks, cut at multiples of 128: 384, 384 and 256.
  const Problem scatter{.op = Op::gemm_reduce_scatter, .m = 4096, .n = 512, .k = 64, .ranks = 4};
  const Config chunked = Chunked{.comm_ctas = 16, .chunks = 3};
  const auto sizes = group_sizes(value_or_throw(Work::make(scatter, chunked)));
  ASSERT_EQ(sizes.size(), 3U);
  std::int64_t bytes = 0;
  for (const GroupSize& size : sizes) {
    EXPECT_EQ(size.bytes.count % (128 * 4 * 512 * 2), 0);
    EXPECT_EQ(size.tiles, 0);
    EXPECT_EQ(size.ctas, 16);
    bytes += size.bytes.count;
  }
  EXPECT_EQ(bytes, 4096 * 512 * 2);

  // The buffer of an all-gather is A.
  const Problem gather{.op = Op::all_gather_gemm, .m = 4096, .n = 512, .k = 64, .ranks = 4};
  const auto whole = group_sizes(value_or_throw(Work::make(gather, Config{})));
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].bytes.count, 4096 * 64 * 2);
  EXPECT_EQ(whole[0].ctas, 0);  // NCCL chooses
}

TEST(GroupSizes, a_last_group_by_another_transport_has_nccl_s_choice_of_ctas) {
  const Problem problem{.op = Op::gemm_all_reduce, .m = 512, .n = 512, .k = 64, .ranks = 4};
  const Config config =
      value_or_throw(parse_config("signaled tile=128x128x64 stages=4 cluster=1 swizzle=4 ctas=8 "
                                  "transport=symmetric_then_ring groups=8,8"));
  const auto sizes = group_sizes(value_or_throw(Work::make(problem, config)));
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].ctas, 8);
  EXPECT_EQ(sizes[1].ctas, 0);
}

}  // namespace
}  // namespace overlaptune
