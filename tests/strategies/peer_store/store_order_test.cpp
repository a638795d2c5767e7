// The tiles of `peer_store`, their owners, their order and their slots, against lists of all tiles.

#include "strategies/peer_store/store_order.hpp"

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/core/enumerated_tiles.hpp"

namespace overlaptune {
namespace {

using Tiles = std::vector<std::int64_t>;

constexpr std::int64_t kShort = 64;   // k with which own tiles come later
constexpr std::int64_t kLong = 4096;  // k with which they do not, but in all-reduce

Problem problem_of(Op op, std::int64_t m, std::int64_t n, int ranks, std::int64_t k = kLong) {
  return {.op = op, .m = m, .n = n, .k = k, .ranks = ranks};
}

StoreOrder order_of(const Problem& problem, const TileOrder& tiles, const Tiles& groups) {
  return store_order(problem, tiles, value_or_throw(group_cuts(tiles, groups)));
}

/// The tiles of a rank as "owner:tile", in the order in which it computes them.
std::vector<std::string> walk_of(const StoreOrder& order, int rank) {
  std::vector<std::string> walk;
  for (std::int64_t position = 0; position < order.tiles(); ++position) {
    const StoredTile tile = stored_tile(order, rank, position);
    walk.push_back(std::to_string(tile.owner) + ":" + std::to_string(tile.tile));
  }
  return walk;
}

TEST(StoreOrder, of_three_row_blocks_by_hand) {
  // 3 row blocks of 2 panels and 2 columns: 4 tiles each, in groups of one panel.
  const Problem problem = problem_of(Op::gemm_reduce_scatter, 3 * 256, 256, 3);
  const TileOrder tiles = tile_order(problem, {128, 128, 64, 4, 1}, 1);
  const StoreOrder order = order_of(problem, tiles, {6, 6});
  using Walk = std::vector<std::string>;
  EXPECT_EQ(walk_of(order, 0), (Walk{"1:0", "1:1", "2:0", "2:1", "0:0", "0:1",  //
                                     "1:2", "1:3", "2:2", "2:3", "0:2", "0:3"}));
  EXPECT_EQ(walk_of(order, 2), (Walk{"0:0", "0:1", "1:0", "1:1", "2:0", "2:1",  //
                                     "0:2", "0:3", "1:2", "1:3", "2:2", "2:3"}));
  Problem quick = problem;
  quick.k = kShort;
  const StoreOrder later = order_of(quick, tiles, {6, 6});
  EXPECT_EQ(walk_of(later, 0), (Walk{"1:0", "1:1", "2:0", "2:1",                //
                                     "1:2", "1:3", "2:2", "2:3", "0:0", "0:1",  //
                                     "0:2", "0:3"}));
  EXPECT_EQ(walk_of(later, 2), (Walk{"0:0", "0:1", "1:0", "1:1",                //
                                     "0:2", "0:3", "1:2", "1:3", "2:0", "2:1",  //
                                     "2:2", "2:3"}));
  // Own tiles wait: those of the first group come behind 4 tiles of the peers, or behind 8. Where
  // nothing is added, none does.
  EXPECT_EQ(tiles_before_waits(order, 0, true), 4);
  EXPECT_EQ(tiles_before_waits(later, 2, true), 8);
  EXPECT_EQ(tiles_before_waits(order, 0, false), 12);
  EXPECT_EQ(order.slots(), 4);
  EXPECT_EQ(slot_bytes(order), 128 * 128 * 2);
}

TEST(StoreOrder, of_one_row_block_by_hand) {
  // 7 tiles: the groups of 4 and 3 are cut into parts of 2 and 2, and of 1 and 2.
  const Problem problem = problem_of(Op::gemm_all_reduce, 128, 7 * 128, 2);
  const TileOrder tiles = tile_order(problem, {128, 128, 64, 4, 1}, 1);
  const StoreOrder order = order_of(problem, tiles, {4, 3});
  using Walk = std::vector<std::string>;
  EXPECT_EQ(walk_of(order, 0), (Walk{"1:2", "1:3", "1:5", "1:6", "0:0", "0:1", "0:4"}));
  EXPECT_EQ(walk_of(order, 1), (Walk{"0:0", "0:1", "0:4", "1:2", "1:3", "1:5", "1:6"}));
  EXPECT_EQ(order.slots(), 4);
}

/// A problem, and wave groups that end at random columns.
struct Drawn {
  Problem problem;
  TileOrder tiles;
  Tiles groups;
};

Drawn draw(std::mt19937& random) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random()) % (most - least + 1);
  };
  const Op op = std::array{Op::gemm_reduce_scatter, Op::gemm_all_to_all, Op::gemm_all_reduce}.at(
      random() % 3);
  const auto ranks = static_cast<int>(from(2, 8));
  Drawn drawn{.problem = problem_of(op, ranks * from(1, 500), 8 * from(1, 90), ranks,
                                    random() % 2 == 0 ? kShort : kLong)};
  drawn.tiles = tile_order(drawn.problem, {64, 64, 64, 4, 1}, static_cast<int>(from(1, 5)));
  const auto tiles = enumerated_tiles(drawn.tiles);
  const auto every = static_cast<unsigned>(from(1, 8));
  std::int64_t begin = 0;
  for (std::size_t end = 1; end <= tiles.size(); ++end) {
    const bool may_end = opens_a_column(tiles, end);
    if (end != tiles.size() && (!may_end || random() % every != 0)) continue;
    drawn.groups.push_back(static_cast<std::int64_t>(end) - begin);
    begin = static_cast<std::int64_t>(end);
  }
  return drawn;
}

/// The number of a tile in the whole matrix, as (row block, number inside it).
using Place = std::pair<int, std::int64_t>;

Place place_of(const StoreOrder& order, const StoredTile& tile) {
  return {order.owns_blocks ? tile.owner : 0, tile.tile};
}

TEST(StoreOrder, every_rank_computes_every_tile_once_and_all_agree_on_owners_and_slots) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Drawn drawn = draw(random);
    const StoreOrder order = order_of(drawn.problem, drawn.tiles, drawn.groups);
    ASSERT_EQ(order.tiles(), drawn.tiles.tiles());
    std::map<Place, StoredTile> of_first;
    for (int rank = 0; rank < order.ranks; ++rank) {
      std::map<Place, StoredTile> seen;
      std::set<std::pair<int, std::int64_t>> slots;  // of each owner
      for (std::int64_t position = 0; position < order.tiles(); ++position) {
        const StoredTile tile = stored_tile(order, rank, position);
        ASSERT_TRUE(seen.emplace(place_of(order, tile), tile).second);
        ASSERT_TRUE(slots.emplace(tile.owner, tile.slot).second) << "two tiles in one slot";
        ASSERT_GE(tile.slot, 0);
        ASSERT_LT(tile.slot, order.slots());
        ASSERT_LT(tile.tile, order.part.tiles());
      }
      ASSERT_EQ(static_cast<std::int64_t>(seen.size()), order.tiles());
      if (rank == 0) of_first = seen;
      ASSERT_EQ(seen, of_first) << "rank " << rank;
    }
  }
}

/// The tiles of each group, by a list of all tiles of the matrix in the order of `TileOrder`.
std::vector<std::set<Place>> groups_of(const Drawn& drawn) {
  const auto tiles = enumerated_tiles(drawn.tiles);
  std::map<int, std::int64_t> next;  // by row block
  std::vector<std::set<Place>> groups;
  std::size_t at = 0;
  for (const std::int64_t count : drawn.groups) {
    auto& group = groups.emplace_back();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto block = static_cast<int>(tiles[at++].block);
      group.emplace(block, next[block]++);
    }
  }
  return groups;
}

/// Where a tile comes among those of its rank, as the order is described: by step, then by the
/// distance of its owner, then by number. A step has the peers' tiles of a group.
using Rank = std::tuple<std::size_t, int, std::int64_t>;

Rank place_in_order(const StoreOrder& order, int rank, const StoredTile& tile) {
  const int distance = (tile.owner - rank + order.ranks - 1) % order.ranks + 1;
  const bool is_own = distance == order.ranks;
  return {tile.group + (is_own && order.own_later ? 1 : 0), distance, tile.tile};
}

TEST(StoreOrder, groups_are_those_of_the_tile_order_and_ranks_take_turns_inside_them) {
  std::mt19937 random(4);
  int later = 0;
  for (int round = 0; round < 200; ++round) {
    const Drawn drawn = draw(random);
    const StoreOrder order = order_of(drawn.problem, drawn.tiles, drawn.groups);
    const auto expected = groups_of(drawn);
    ASSERT_EQ(order.groups.size(), expected.size());
    later += order.own_later ? 1 : 0;
    for (int rank = 0; rank < order.ranks; ++rank) {
      for (std::int64_t i = 0; i < tiles_before_waits(order, rank, true); ++i) {
        ASSERT_NE(stored_tile(order, rank, i).owner, rank);
      }
      std::vector<std::set<Place>> groups(expected.size());
      std::optional<Rank> last;
      for (std::int64_t position = 0; position < order.tiles(); ++position) {
        const StoredTile tile = stored_tile(order, rank, position);
        groups.at(tile.group).insert(place_of(order, tile));
        const Rank place = place_in_order(order, rank, tile);
        if (last) {
          ASSERT_LT(*last, place);
        }
        last = place;
      }
      ASSERT_EQ(groups, expected);
    }
  }
  EXPECT_GT(later, 100);
  EXPECT_LT(later, 180);
}

TEST(StoreOrder, the_shares_of_a_group_are_nearly_equal_and_cover_it) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const Drawn drawn = draw(random);
    const StoreOrder order = order_of(drawn.problem, drawn.tiles, drawn.groups);
    std::int64_t owned_most = 0;
    std::vector<std::int64_t> owned(static_cast<std::size_t>(order.ranks));
    for (std::size_t group = 0; group < order.groups.size(); ++group) {
      std::int64_t all = 0;
      std::int64_t next = order.groups[group].tiles.begin;
      for (int owner = 0; owner < order.ranks; ++owner) {
        const TileRange share = order.share(group, owner);
        all += share.count();
        owned[static_cast<std::size_t>(owner)] += share.count();
        EXPECT_LE(std::abs(share.count() * order.ranks - drawn.groups[group]), order.ranks - 1);
        if (order.owns_blocks) continue;
        EXPECT_EQ(share.begin, next);
        next = share.end;
      }
      EXPECT_EQ(all, drawn.groups[group]);
    }
    for (const std::int64_t tiles : owned) owned_most = std::max(owned_most, tiles);
    EXPECT_GE(order.slots(), owned_most);
    EXPECT_LE(order.slots(), owned_most + static_cast<std::int64_t>(order.groups.size()));
  }
}

TEST(StoreOrder, own_tiles_come_later_in_all_reduce_or_where_the_product_is_short) {
  Problem problem{Op::gemm_all_to_all, 4096, 8192, 2047, Elements::bf16, 8};
  EXPECT_TRUE(own_tiles_come_later(problem));
  problem.k = 2048;
  EXPECT_FALSE(own_tiles_come_later(problem));
  problem.op = Op::gemm_reduce_scatter;
  EXPECT_FALSE(own_tiles_come_later(problem));
  problem.op = Op::gemm_all_reduce;
  EXPECT_TRUE(own_tiles_come_later(problem));
}

TEST(StoreItem, of_two_ranks_by_hand) {
  // Groups of 4, 2 and 2 tiles, of which each rank owns half. Two shares of each group's sums.
  const Problem problem = problem_of(Op::gemm_all_reduce, 128, 8 * 128, 2);
  const TileOrder tiles = tile_order(problem, {128, 128, 64, 4, 1}, 1);
  const StoreOrder order = order_of(problem, tiles, {4, 2, 2});
  const FetchOrder single{.shares = 2};
  const std::vector<StoreItem> walk{
      {.number = 0},  // the peer's of the first group
      {.number = 1},
      {.number = 2},  // the peer's of the second one, then own ones of the first one
      {.number = 3},
      {.number = 4},
      {.number = 5},  // the peer's of the third one, then the own one of the second one
      {.number = 6},
      {.fetches = true, .number = 0, .group = 0},
      {.fetches = true, .number = 1, .group = 0},
      {.number = 7},  // the own one of the third one
      {.fetches = true, .number = 0, .group = 1},
      {.fetches = true, .number = 1, .group = 1},
      {.fetches = true, .number = 0, .group = 2},
      {.fetches = true, .number = 1, .group = 2},
  };
  ASSERT_EQ(items_of(order, single), static_cast<std::int64_t>(walk.size()));
  for (std::size_t i = 0; i < walk.size(); ++i) {
    EXPECT_EQ(store_item(order, single, 1, static_cast<std::int64_t>(i)), walk[i]) << i;
  }
  // Items of two tiles: the fetch comes behind the one that has the last own tile of the second
  // group, and the own one of the third group.
  const FetchOrder pairs{.shares = 1, .tiles_an_item = 2};
  EXPECT_EQ(items_of(order, pairs), 4 + 3);
  EXPECT_EQ(store_item(order, pairs, 0, 3), (StoreItem{.number = 3}));
  EXPECT_EQ(store_item(order, pairs, 0, 4), (StoreItem{.fetches = true, .number = 0, .group = 0}));
}

/// The queue's rule: an item waits only for items that come before it, on whichever rank. Ranks own
/// different numbers of tiles, so steps are compared, not positions. A peer's tile is in the step
/// of its group, an own one in the step after it, and a fetch behind the tiles of a step.
TEST(StoreItem, every_rank_fetches_each_group_behind_the_tiles_that_it_waits_for) {
  std::mt19937 random(6);
  int rounds = 0;
  while (rounds < 100) {
    const Drawn drawn = draw(random);
    if (!fetches_sums(drawn.problem.op)) continue;
    ++rounds;
    const StoreOrder order = order_of(drawn.problem, drawn.tiles, drawn.groups);
    ASSERT_TRUE(order.own_later);
    const FetchOrder fetches{.shares = 1 + static_cast<std::int64_t>(random() % 5),
                             .tiles_an_item = 1 + static_cast<int>(random() % 2)};
    for (int rank = 0; rank < order.ranks; ++rank) {
      std::int64_t computed = 0;  // items
      std::vector<std::int64_t> fetched(order.groups.size());
      std::size_t next_step = 0;  // the first step whose tiles may still come
      for (std::int64_t position = 0; position < items_of(order, fetches); ++position) {
        const StoreItem item = store_item(order, fetches, rank, position);
        if (item.fetches) {
          ASSERT_EQ(item.number, fetched.at(item.group)++) << "shares in their order";
          // The own tiles of this group are in the step after it on all ranks; one more step lies
          // before the fetch, or all tiles do.
          next_step = std::max(next_step, std::min(item.group + 2, order.groups.size()) + 1);
          continue;
        }
        ASSERT_EQ(item.number, computed++) << "tiles in their order";
        for (int i = 0; i < fetches.tiles_an_item; ++i) {
          const std::int64_t at = item.number * fetches.tiles_an_item + i;
          if (at >= order.tiles()) break;
          const StoredTile tile = stored_tile(order, rank, at);
          const std::size_t step = tile.group + (tile.owner == rank ? 1 : 0);
          ASSERT_GE(step, next_step);
          next_step = step;
        }
      }
      ASSERT_EQ(computed, (order.tiles() + fetches.tiles_an_item - 1) / fetches.tiles_an_item);
      for (const std::int64_t shares : fetched) ASSERT_EQ(shares, fetches.shares);
    }
  }
}

}  // namespace
}  // namespace overlaptune
