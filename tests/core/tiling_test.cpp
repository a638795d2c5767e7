#include "core/config/tiling.hpp"

#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "enumerated_tiles.hpp"

namespace overlaptune {
namespace {

TileOrder random_order(std::mt19937& random) {
  const int blocks = std::array{1, 2, 4, 8}[random() % 4];
  return {.block_rows = 1 + static_cast<std::int64_t>(random() % 900),
          .n = 8 * (1 + static_cast<std::int64_t>(random() % 200)),
          .blocks = blocks,
          .block_m = 64 * (1 + static_cast<int>(random() % 4)),
          .block_n = 16 * (1 + static_cast<int>(random() % 16)),
          .swizzle = 1 + static_cast<int>(random() % 6),
          .elements = Elements::bf16};
}

TEST(TileOrder, counts_every_tile_once) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const TileOrder order = random_order(random);
    const auto tiles = enumerated_tiles(order);
    ASSERT_EQ(order.tiles(), static_cast<std::int64_t>(tiles.size()));
    std::int64_t elements = 0;
    for (const EnumeratedTile& tile : tiles) elements += tile.rows * tile.columns;
    ASSERT_EQ(elements, order.block_rows * order.blocks * order.n);
  }
}

TEST(TileOrder, a_cut_holds_the_bytes_of_its_tiles) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const TileOrder order = random_order(random);
    const auto tiles = enumerated_tiles(order);
    for (int trial = 0; trial < 20; ++trial) {
      const auto asked = static_cast<std::int64_t>(random() % (tiles.size() + 5));
      const Cut cut = cut_at(order, asked);
      ASSERT_LE(cut.tiles, std::min(asked, order.tiles()));
      std::int64_t bytes = 0;
      std::map<int, std::int64_t> rows_of_block;
      for (std::int64_t i = 0; i < cut.tiles; ++i) {
        const EnumeratedTile& tile = tiles[static_cast<std::size_t>(i)];
        bytes += tile.rows * tile.columns * result_bytes(order.elements);
        rows_of_block[tile.block] += tile.rows * tile.columns;
      }
      ASSERT_EQ(cut.bytes.count, bytes);
      for (const auto& [block, elements] : rows_of_block) ASSERT_EQ(elements, rows_of_block[0]);
      // A cut is contiguous if the next tile, if any, opens a swizzle group.
      const bool opens =
          cut.tiles == order.tiles() || tiles[static_cast<std::size_t>(cut.tiles)].column == 0;
      ASSERT_EQ(cut.contiguous, opens);
    }
  }
}

TEST(TileOrder, wave_cuts_are_at_most_a_wave_apart_and_end_with_everything) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const TileOrder order = random_order(random);
    const int sms = 1 + static_cast<int>(random() % 132);
    const auto cuts = wave_cuts(order, sms, Transport::ring);
    std::int64_t last = 0;
    for (const Cut& cut : cuts) {
      ASSERT_GT(cut.tiles, last);
      ASSERT_EQ(cut, cut_at(order, cut.tiles));
      last = cut.tiles;
    }
    ASSERT_EQ(last, order.tiles());
    // Cuts are as fine as waves: there is one for each wave that completes a swizzle group. In the
    // last of several swizzle groups, and where there is a single panel, there is one for each wave
    // that completes a column.
    const std::int64_t swizzle_group = order.column_tiles(0) * order.columns();
    const std::int64_t before_last = (order.swizzle_groups() - 1) * swizzle_group;
    std::set<std::int64_t> expected{order.tiles()};
    for (std::int64_t end = sms; end < order.tiles(); end += sms) {
      std::int64_t cut = end / swizzle_group * swizzle_group;
      const bool columns = before_last > 0 || order.block_rows <= order.block_m;
      if (columns && end >= before_last) {
        const std::int64_t column = order.column_tiles(order.swizzle_groups() - 1);
        cut = before_last + (end - before_last) / column * column;
      }
      if (cut > 0) expected.insert(cut);
    }
    ASSERT_EQ(cuts.size(), expected.size());
  }
}

TEST(WaveCuts, of_an_enormous_problem_are_not_a_list) {
  const TileOrder order{.block_rows = (std::int64_t{1} << 31) - 1,
                        .n = (std::int64_t{1} << 31) - 8,
                        .blocks = 1,
                        .block_m = 64,
                        .block_n = 16,
                        .swizzle = 4,
                        .elements = Elements::bf16};
  for (const Transport transport :
       {Transport::ring, Transport::copy_engine, Transport::peer_access}) {
    const WaveCuts all(order, 100, transport);
    EXPECT_GT(all.count(), 1'000'000);
    const Cut last = all[all.count()];
    EXPECT_EQ(last, cut_at(order, order.tiles()));
    EXPECT_EQ(last.bytes.count, order.block_rows * order.n * 2);
    std::vector<std::int64_t> numbers{1, 2, all.count() / 2, all.count() - 1, all.count()};
    const std::vector<Cut> cuts = all.at(numbers);
    ASSERT_EQ(cuts.size(), numbers.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      EXPECT_EQ(cuts[i], cut_at(order, cuts[i].tiles));
      EXPECT_GT(cuts[i].tiles, i == 0 ? 0 : cuts[i - 1].tiles);
    }
  }
}

TEST(TileOrder, regions_hold_what_their_tiles_fill) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const TileOrder order = random_order(random);
    const auto tiles = enumerated_tiles(order);
    std::int64_t tile = 0;
    Cut begin;
    while (begin.tiles < order.tiles()) {
      const auto most = static_cast<std::uint64_t>(order.tiles() - begin.tiles);
      const Cut end =
          cut_at(order, begin.tiles + 1 + static_cast<std::int64_t>(random() % (2 * most)));
      if (end.tiles == begin.tiles) continue;
      const auto list = regions(order, begin, end);
      ASSERT_LE(list.size(), 3U);
      ASSERT_EQ(static_cast<int>(list.size()),
                enumerated_regions(tiles, static_cast<std::size_t>(begin.tiles),
                                   static_cast<std::size_t>(end.tiles)));
      if (begin.contiguous && end.contiguous) {
        ASSERT_EQ(list.size(), 1U);
      }
      for (const Region& region : list) {
        std::int64_t elements = 0;
        for (; tile < region.end; ++tile) {
          const EnumeratedTile& seen = tiles[static_cast<std::size_t>(tile)];
          const std::int64_t first_column = seen.column * order.block_n;
          ASSERT_GE(seen.first_row, region.first_row);
          ASSERT_LE(seen.first_row + seen.rows, region.first_row + region.rows);
          ASSERT_GE(first_column, region.first_column);
          ASSERT_LE(first_column + seen.columns, region.first_column + region.columns);
          elements += seen.rows * seen.columns;
        }
        ASSERT_EQ(elements, region.rows * region.columns * order.blocks);
      }
      ASSERT_EQ(list.back().end, end.tiles);
      begin = end;
    }
    ASSERT_EQ(tile, order.tiles());
  }
}

TEST(TileOrder, deep_tiles_that_leave_half_of_the_sms_idle_have_two_ctas_each) {
  constexpr Tile kTile{128, 256, 64, 4, 1};
  const TileOrder order{1024, 1280, 1, 128, 256, 8};  // 40 tiles
  EXPECT_EQ(ctas_per_tile(order, kTile, 8192, 132, gpu_limits(90)), 2);
  EXPECT_EQ(ctas_per_tile(order, kTile, 8192, 80, gpu_limits(90)), 2);
  EXPECT_EQ(ctas_per_tile(order, kTile, 8192, 79, gpu_limits(90)), 1);
  EXPECT_EQ(ctas_per_tile(order, kTile, 1024, 132, gpu_limits(90)), 2);
  EXPECT_EQ(ctas_per_tile(order, kTile, 512, 132, gpu_limits(90)), 1);
  // No tile is shared where clusters share operands already, where three warpgroups have no
  // registers for it, and on GPUs without clusters.
  EXPECT_EQ(ctas_per_tile(order, {128, 256, 64, 4, 2}, 8192, 132, gpu_limits(90)), 1);
  const TileOrder higher{1024, 1280, 1, 192, 256, 8};
  EXPECT_EQ(ctas_per_tile(higher, {192, 256, 64, 3, 1}, 8192, 132, gpu_limits(90)), 1);
  EXPECT_EQ(ctas_per_tile(order, kTile, 8192, 132, gpu_limits(80)), 1);
}

TEST(TileOrder, groups_must_cover_the_tiles_by_whole_columns) {
  const Problem problem{Op::gemm_reduce_scatter, 1024, 512, 64, Elements::bf16, 4};
  const Tile tile{64, 128, 64, 4, 1};
  const TileOrder order = tile_order(problem, tile, 1);  // 4 swizzle groups of 4 columns of 4 tiles
  auto groups = [&](const std::vector<std::int64_t>& list) { return group_cuts(order, list); };
  ASSERT_TRUE(groups({16, 48}));
  EXPECT_TRUE(groups({16, 48})->at(0).contiguous);
  EXPECT_FALSE(groups({4, 60})->at(0).contiguous);
  EXPECT_FALSE(groups({6, 58}));
  EXPECT_FALSE(groups({16, 16}));
  EXPECT_FALSE(groups({64, 4}));
  EXPECT_FALSE(groups({0, 64}));
  EXPECT_FALSE(groups({-4, 68}));
  EXPECT_FALSE(groups({}));
  EXPECT_FALSE(groups({INT64_MAX, 64}));
}

TEST(TileOrder, only_groups_off_the_panels_are_reordered) {
  const Problem scatter{Op::gemm_reduce_scatter, 1024, 512, 64, Elements::bf16, 4};
  const Cut start{};
  const Cut panel{16, {262144}, true};
  const Cut column{20, {327680}, false};
  EXPECT_EQ(reorder_bytes(scatter, start, panel).count, 0);
  EXPECT_EQ(reorder_bytes(scatter, panel, column).count, 65536 / 4);
  Problem reduce = scatter;
  reduce.op = Op::gemm_all_reduce;
  EXPECT_EQ(reorder_bytes(reduce, panel, column).count, 65536);
}

TEST(Chunks, are_no_lower_than_a_tile) {
  EXPECT_EQ(most_chunks({Op::gemm_all_reduce, 1024, 8, 8, Elements::bf16, 4}), 8);
  EXPECT_EQ(most_chunks({Op::gemm_reduce_scatter, 1024, 8, 8, Elements::bf16, 4}), 2);
  EXPECT_EQ(most_chunks({Op::gemm_reduce_scatter, 256, 8, 8, Elements::bf16, 4}), 1);
  EXPECT_EQ(most_chunks({Op::gemm_all_reduce, 65536, 8, 8, Elements::bf16, 4}), 32);
}

TEST(Chunks, cover_the_rows_nearly_equally_in_whole_units) {
  for (std::int64_t m = 1; m <= 300; ++m) {
    const Problem problem{Op::gemm_all_reduce, m, 8, 8, Elements::bf16, 2};
    for (int chunks = 1; chunks <= 40; ++chunks) {
      const auto rows = chunk_rows(problem, chunks);
      ASSERT_EQ(rows.has_value(), chunks <= m);
      if (!rows) continue;
      ASSERT_EQ(std::accumulate(rows->begin(), rows->end(), std::int64_t{0}), m);
      std::int64_t unit = 1;
      while (unit < 128 && m >= 2 * unit * chunks) unit *= 2;
      const auto [least, most] = std::minmax_element(rows->begin(), rows->end());
      ASSERT_LT(*most - *least, 2 * unit);
      ASSERT_GE(*least, unit);
      ASSERT_TRUE(std::all_of(rows->begin(), rows->end() - 1,
                              [&](std::int64_t part) { return part % unit == 0; }));
    }
  }
}

}  // namespace
}  // namespace overlaptune
