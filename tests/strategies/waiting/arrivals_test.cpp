// The order of tiles whose rows arrive, and its cuts, against a list of all rows.

#include "strategies/waiting/arrivals.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "core/gpu.hpp"

namespace overlaptune {
namespace {

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, int ranks) {
  return {.op = Op::all_gather_gemm, .m = m, .n = n, .k = k, .ranks = ranks};
}

TEST(ArrivalOrder, the_cuts_and_rows_of_a_problem_by_hand) {
  // Each of 4 row blocks: 300 rows are 3 panels of 128, in swizzle groups of 2 and of 1; 2 columns.
  const Problem problem = problem_of(1200, 256, 64, 4);
  const ArrivalOrder order = arrival_order(problem, {128, 128, 64, 4, 1}, 2);
  EXPECT_EQ(order.tiles(), 24);
  const auto cuts = arrival_cuts(order, std::vector<std::int64_t>{6, 4, 2, 6, 6});
  ASSERT_TRUE(cuts) << cuts.error().message;
  const std::int64_t row = 64 * 2;
  EXPECT_EQ(*cuts, (std::vector<Cut>{{6, {300 * row}},
                                     {10, {556 * row}},
                                     {12, {600 * row}},
                                     {18, {900 * row}},
                                     {24, {1200 * row}}}));
  EXPECT_EQ(arriving_rows(order, *cuts),
            (std::vector<ArrivingRows>{
                {0, 0, 300}, {1, 0, 256}, {1, 256, 44}, {2, 0, 300}, {3, 0, 300}}));
}

TEST(ArrivalOrder, groups_end_with_swizzle_groups_inside_one_row_block) {
  const ArrivalOrder order = arrival_order(problem_of(1200, 256, 64, 4), {128, 128, 64, 4, 1}, 2);
  const auto refused = [&](const std::vector<std::int64_t>& groups) {
    const auto cuts = arrival_cuts(order, groups);
    return cuts ? std::string() : cuts.error().message;
  };
  EXPECT_NE(refused({4, 2, 6, 6, 6}).find("group 0 of 4 tiles after 0: expected 6"),
            std::string::npos);
  EXPECT_NE(refused({6, 4, 8, 6}).find("group 2 of 8 tiles after 10: expected at most 2"),
            std::string::npos);
  EXPECT_NE(refused({6, 2, 4, 6, 6}).find("expected a multiple of 4"), std::string::npos);
  EXPECT_NE(refused({6, 6, 6}).find("18 tiles in all, expected 24"), std::string::npos);
  EXPECT_NE(refused({6, 6, 6, 6, 1}).find("group 4 of 1 tiles after 24 of 24"), std::string::npos);
  EXPECT_NE(refused({6, 0, 6, 6, 6}).find("group 1 of 0 tiles"), std::string::npos);
}

TEST(ArrivalOrder, every_row_arrives_once_and_every_tile_has_its_rows) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const int ranks = 2 + static_cast<int>(random() % 7);
    const auto rows = static_cast<std::int64_t>(1 + random() % 1500);
    const Problem problem =
        problem_of(rows * ranks, 8 * static_cast<std::int64_t>(1 + random() % 200), 64, ranks);
    const Tile tile{64 * (1 + static_cast<int>(random() % 4)), 128, 64, 4, 1};
    const ArrivalOrder order = arrival_order(problem, tile, 1 + static_cast<int>(random() % 5));
    std::vector<Cut> cuts;
    const std::int64_t swizzles = order.block.swizzle_groups();
    for (int block = 0; block < ranks; ++block) {
      for (std::int64_t s = 1; s <= swizzles; ++s) {
        if (s < swizzles && (block == 0 || random() % 2 == 0)) continue;
        cuts.push_back(arrival_cut(order, block, s));
      }
    }
    std::vector<std::int64_t> groups;
    std::int64_t before = 0;
    for (const Cut& cut : cuts) {
      groups.push_back(cut.tiles - before);
      before = cut.tiles;
    }
    const auto same = arrival_cuts(order, groups);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(*same, cuts);
    // Rows follow one another, and each panel of a group's tiles lies in the group's rows.
    std::int64_t next = 0;
    std::int64_t tiles = 0;
    for (const ArrivingRows& part : arriving_rows(order, cuts)) {
      EXPECT_EQ(part.block * rows + part.first_row, next);
      EXPECT_LE(part.first_row + part.rows, rows);
      next += part.rows;
      const std::int64_t panels = (part.rows + tile.block_m - 1) / tile.block_m;
      EXPECT_EQ(part.first_row % tile.block_m, 0);
      tiles += panels * ((problem.n + tile.block_n - 1) / tile.block_n);
    }
    EXPECT_EQ(next, problem.m);
    EXPECT_EQ(tiles, order.tiles());
  }
}

/// Beside a walk through the steps of both CTAs of a tile, or of the one that it has.
TEST(Arrivals, a_tile_needs_a_chunk_when_a_cta_comes_to_it) {
  constexpr int kSteps = 2 * 2 * 3 * 5 * 7;
  for (const int chunks : {1, 2, 3, 4, 5, 7}) {
    for (const int ctas : {1, 2}) {
      std::vector<double> needed(static_cast<std::size_t>(chunks), 2);
      const int each = kSteps / ctas;
      for (int cta = 0; cta < ctas; ++cta) {
        for (int step = 0; step < each; ++step) {
          const int chunk = (cta * each + step) * chunks / kSteps;
          double& first = needed[static_cast<std::size_t>(chunk)];
          first = std::min(first, static_cast<double>(step) / each);
        }
      }
      for (int chunk = 0; chunk < chunks; ++chunk) {
        EXPECT_NEAR(needs_chunk_after(chunk, chunks, ctas), needed[static_cast<std::size_t>(chunk)],
                    1e-9)
            << chunk << " of " << chunks << ", " << ctas;
      }
    }
  }
}

/// Beside a walk through the own tiles in their order.
TEST(Arrivals, the_first_tiles_of_each_panel_push) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = problem_of(2 * static_cast<std::int64_t>(1 + random() % 4000),
                                       8 * static_cast<std::int64_t>(1 + random() % 400), 512, 2);
    const ArrivalOrder order =
        arrival_order(problem, {128, 128, 64, 4, 1}, 1 + static_cast<int>(random() % 16));
    const int sms = 1 + static_cast<int>(random() % 150);
    const int pushers = pushers_of_panel(order.block);
    const std::int64_t panels = order.block.panels_per_block();
    EXPECT_GE(pushers, 1);
    EXPECT_LE(pushers, order.block.columns());
    EXPECT_TRUE(pushers == 1 || pushers * panels <= 132);
    EXPECT_TRUE(pushers == order.block.columns() || (pushers + 1) * panels > 132);
    // Swizzle groups of panels, each column by column.
    std::int64_t number = 0;
    std::int64_t last = 0;
    for (std::int64_t first = 0; first < panels; first += order.block.swizzle) {
      const std::int64_t rows = std::min<std::int64_t>(order.block.swizzle, panels - first);
      for (std::int64_t column = 0; column < order.block.columns(); ++column) {
        for (std::int64_t row = 0; row < rows; ++row, ++number) {
          if (column < pushers) last = number;
        }
      }
    }
    EXPECT_EQ(number, order.block.tiles());
    EXPECT_EQ(tiles_before_pushers(order.block, sms), last / sms * sms);
    EXPECT_EQ(pushers_at_once(order.block, sms), std::min<std::int64_t>(pushers * panels, sms));
  }
}

/// Row blocks of 12 panels of 128 rows of 16512 bytes, which three peers need. On 132 SMs, 11 tiles
/// of a panel could push.
TEST(Arrivals, each_pusher_has_its_part_of_a_panel) {
  const auto with_columns = [](int columns) {
    const Problem problem{
        Op::all_gather_gemm, 4 * 12 * 128, columns * 128, 8256, Elements::bf16, 4};
    return arrival_order(problem, {128, 128, 64, 4, 1}, 2);
  };
  EXPECT_DOUBLE_EQ(bytes_of_pusher(with_columns(10)), 3 * 128 * 16512 / 10.0);
  EXPECT_DOUBLE_EQ(part_that_pushes(with_columns(10).block), 1);
  EXPECT_DOUBLE_EQ(bytes_of_pusher(with_columns(44)), 3 * 128 * 16512 / 11.0);
  EXPECT_DOUBLE_EQ(part_that_pushes(with_columns(44).block), 0.25);
}

TEST(Arrivals, tiles_push_where_they_can) {
  const Tile tile{128, 128, 64, 4, 1};
  const Problem problem{Op::all_gather_gemm, 1024, 1024, 8192, Elements::bf16, 2};
  const Waiting config{.tile = tile,
                       .swizzle = 4,
                       .comm_ctas = kTilesPush,
                       .transport = Transport::peer_access,
                       .k_chunks = 8,
                       .wave_groups = {32, 32}};
  EXPECT_TRUE(check(problem, config, {}));
  const auto refused = [](const Problem& of, const Waiting& changed) {
    if (auto able = check(changed); !able) return able.error().message;
    const auto able = check(of, changed, {});
    return able ? std::string() : able.error().message;
  };
  Waiting other = config;
  other.tile.cluster = 2;
  EXPECT_EQ(
      refused(problem, other),
      "ctas = 0, or none given, by peer_access: tile 128x128x64 of a cluster cannot push: expected "
      "cluster=1, or ctas of 1 or more");
  other.tile = {192, 128, 64, 4, 1};
  EXPECT_THAT(refused(problem, other),
              testing::HasSubstr("tile 192x128x64 has 192 rows of wgmmas"));
  other = config;
  other.wave_groups = {32, 20, 12};  // which do not end with swizzle groups either
  EXPECT_EQ(
      refused(problem, other),
      "groups: 3 groups: expected 2, one for the rows of each rank, where tiles push (ctas = 0 by "
      "peer_access)");
  Problem shallow = problem;
  shallow.k = 192;
  other = config;
  other.k_chunks = 1;
  EXPECT_EQ(
      refused(shallow, other),
      "k = 192: 3 steps of 64: where tiles push (ctas = 0 by peer_access) expected at least as "
      "many as stages, 4: give fewer stages, or ctas of 1 or more");
  shallow.k = 200;
  EXPECT_EQ(refused(shallow, other), "");
  Problem many = problem;
  many.m = 16 * 512;
  many.ranks = 16;
  other.wave_groups.assign(16, 32);
  EXPECT_EQ(
      refused(many, other),
      "ctas = 0 by peer_access: 16 ranks: tiles push to at most 8: expected ctas of 1 or more");
}

TEST(Arrivals, chunks_are_whole_steps_and_none_is_empty) {
  const Tile tile{128, 128, 64, 4, 1};
  for (const Elements elements : {Elements::bf16, Elements::e4m3_rows_bf16}) {
    Tile own = tile;
    own.block_k = block_k_of(elements);
    for (const std::int64_t k : {64, 1000, 1024, 8192}) {
      const Problem problem{Op::all_gather_gemm, 1024, 1024, k, elements, 2};
      for (const int chunks : {1, 2, 3, 5, 16, 17, 200}) {
        const Waiting config{
            .tile = own, .swizzle = 4, .k_chunks = chunks, .wave_groups = {32, 32}};
        const std::int64_t columns = chunk_columns(problem, chunks);
        EXPECT_EQ(columns % own.block_k, 0);
        EXPECT_GE(columns * chunks, k);
        const bool is_full = columns * (chunks - 1) < k;  // the last chunk has a column
        const auto able = check(problem, config, {});
        EXPECT_EQ(able.has_value(), is_full) << k << " in " << chunks;
        if (!able) {
          EXPECT_THAT(able.error().message, testing::HasSubstr("k_chunks = "));
        }
      }
    }
  }
  const Waiting pushed{.tile = tile,
                       .swizzle = 4,
                       .comm_ctas = 8,
                       .transport = Transport::peer_access,
                       .k_chunks = 2,
                       .wave_groups = {32, 32}};
  EXPECT_TRUE(check(pushed));
  const Problem problem{Op::all_gather_gemm, 1024, 1024, 8192, Elements::bf16, 2};
  Waiting many{.tile = tile, .swizzle = 1, .k_chunks = 38, .wave_groups = {32, 8, 8, 8, 8}};
  EXPECT_THAT(check(problem, many, {}).error().message, testing::HasSubstr("one would be empty"));
  many.k_chunks = 64;
  EXPECT_EQ(check(problem, many, {}).error().message,
            "k_chunks = 64: expected at most 38 with 5 groups");
  const Waiting large{
      .tile = {192, 256, 64, 3, 1}, .swizzle = 4, .k_chunks = 2, .wave_groups = {32, 32}};
  EXPECT_THAT(check(large).error().message,
              testing::HasSubstr("k_chunks = 2: expected 1 with tile 192x256"));
}

}  // namespace
}  // namespace overlaptune
