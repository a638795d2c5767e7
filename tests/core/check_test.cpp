// Legality against what the documents say, config by config and tile by tile.

#include "core/config/check.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "config_cases.hpp"
#include "enumerated_tiles.hpp"

namespace overlaptune {
namespace {

/// A refusal says in one line what is wrong.
void expect_refusal(const Expected<void>& outcome, const std::string& what) {
  ASSERT_FALSE(outcome) << what;
  EXPECT_EQ(outcome.error().kind, ErrorKind::bad_input) << what;
  EXPECT_FALSE(outcome.error().message.empty()) << what;
  EXPECT_EQ(outcome.error().message.find('\n'), std::string::npos) << what;
}

void expect_named(const Expected<void>& outcome, std::string_view said) {
  ASSERT_FALSE(outcome) << "not refused: " << said;
  EXPECT_NE(outcome.error().message.find(said), std::string::npos)
      << outcome.error().message << "\nexpected: " << said;
}

TEST(Check, a_config_is_legal_where_its_fields_are_in_range_and_go_together) {
  std::map<Strategy, int> legal;
  std::map<Strategy, int> refused;
  for (const auto& [config, is_legal] : cases::alone()) {
    const auto outcome = check(config);
    ++(is_legal ? legal : refused)[strategy_of(config)];
    if (is_legal) {
      ASSERT_TRUE(outcome) << to_string(config) << ": " << outcome.error().message;
    } else {
      expect_refusal(outcome, to_string(config));
    }
  }
  for (const auto& strategy : NamesOf<Strategy>::all) {
    EXPECT_GE(legal[strategy.value], 8) << strategy.name;
    EXPECT_GE(refused[strategy.value], 20) << strategy.name;
  }
}

TEST(Check, the_parser_takes_the_same_configs) {
  for (const auto& [config, is_legal] : cases::alone()) {
    const std::string line = to_string(config);
    const auto read = parse_config(line);
    ASSERT_EQ(read.has_value(), is_legal) << line;
    if (read) {
      ASSERT_EQ(*read, config);
    }
  }
}

/// Whether the wave groups of a config make up a problem, tile by tile.
bool cuts_up(const Problem& problem, const Signaled& config) {
  const auto tiles = enumerated_tiles(tile_order(problem, config.tile, config.swizzle));
  std::size_t end = 0;
  int regions = 0;
  for (const std::int64_t group : config.wave_groups) {
    const std::size_t begin = end;
    end += static_cast<std::size_t>(group);
    if (end > tiles.size() || !opens_a_column(tiles, end)) return false;
    // Copy engines move whole rows.
    const bool by_copies = config.transport.beside_gemm == Transport::copy_engine;
    if (by_copies && !opens_a_swizzle_group(tiles, end)) return false;
    regions += enumerated_regions(tiles, begin, end);
  }
  constexpr int kRegionsOfALaunch = 192;
  return end == tiles.size() && regions <= kRegionsOfALaunch;
}

/// Whether groups that arrive make up a problem: the tiles row block by row block, and inside a row
/// block a few row panels at a time.
bool cuts_up(const Problem& problem, const Waiting& config) {
  struct Tile {
    std::int64_t block;
    std::int64_t panel;
  };
  const std::int64_t rows = problem.m / problem.ranks;
  const std::int64_t panels = (rows + config.tile.block_m - 1) / config.tile.block_m;
  const std::int64_t columns = (problem.n + config.tile.block_n - 1) / config.tile.block_n;
  std::vector<Tile> tiles;
  for (std::int64_t block = 0; block < problem.ranks; ++block) {
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      for (std::int64_t column = 0; column < columns; ++column) tiles.push_back({block, panel});
    }
  }
  std::size_t end = 0;
  for (const std::int64_t group : config.wave_groups) {
    const std::size_t begin = end;
    end += static_cast<std::size_t>(group);
    if (end > tiles.size() || tiles[begin].block != tiles[end - 1].block) return false;
    const bool opens_block = end == tiles.size() || tiles[end].block != tiles[end - 1].block;
    if (begin == 0 && !opens_block) return false;
    const bool opens_panels = opens_block || (tiles[end].panel != tiles[end - 1].panel &&
                                              tiles[end].panel % config.swizzle == 0);
    if (!opens_panels) return false;
  }
  constexpr std::size_t kGroupsOfALaunch = 192;
  return end == tiles.size() && config.wave_groups.size() <= kGroupsOfALaunch;
}

/// Whether groups of tiles that are stored at their owners make up a problem, tile by tile.
bool cuts_up(const Problem& problem, const PeerStore& config) {
  const auto tiles = enumerated_tiles(tile_order(problem, config.tile, config.swizzle));
  std::size_t end = 0;
  for (const std::int64_t group : config.wave_groups) {
    end += static_cast<std::size_t>(group);
    if (end > tiles.size() || !opens_a_column(tiles, end)) return false;
  }
  constexpr std::size_t kGroupsOfALaunch = 192;
  return end == tiles.size() && config.wave_groups.size() <= kGroupsOfALaunch;
}

bool suits(const Problem& problem, const Config& config) {
  if (const auto* chunked = std::get_if<Chunked>(&config)) {
    return chunked->chunks <=
           (problem.op == Op::gemm_all_reduce ? problem.m : problem.m / problem.ranks);
  }
  const bool gathers = problem.op == Op::all_gather_gemm;
  const bool product_first = !gathers && problem.op != Op::all_to_all_gemm;
  if (const auto* waiting = std::get_if<Waiting>(&config)) {
    return gathers && cuts_up(problem, *waiting);
  }
  if (const auto* stored = std::get_if<PeerStore>(&config)) {
    return product_first && cuts_up(problem, *stored);
  }
  const auto* signaled = std::get_if<Signaled>(&config);
  if (signaled == nullptr) return true;
  return product_first && cuts_up(problem, *signaled);
}

TEST(Check, a_config_suits_a_problem_where_its_parts_make_it_up) {
  std::map<std::pair<Op, Strategy>, int> legal;
  std::map<std::pair<Op, Strategy>, int> refused;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      ASSERT_TRUE(check(config)) << to_string(config);
      const auto outcome = check(problem, config);
      const std::string what = to_string(problem) + " " + to_string(config);
      const bool is_legal = suits(problem, config);
      ++(is_legal ? legal : refused)[{problem.op, strategy_of(config)}];
      if (is_legal) {
        ASSERT_TRUE(outcome) << what << ": " << outcome.error().message;
      } else {
        expect_refusal(outcome, what);
      }
    }
  }
  for (const auto& op : NamesOf<Op>::all) {
    EXPECT_GE((legal[{op.value, strategy_of<Sequential>()}]), 6) << op.name;
    EXPECT_GE((legal[{op.value, strategy_of<Chunked>()}]), 6) << op.name;
    EXPECT_GE((refused[{op.value, strategy_of<Chunked>()}]), 6) << op.name;
    const bool gathers = op.value == Op::all_gather_gemm;
    const bool has_signals = !gathers && op.value != Op::all_to_all_gemm;
    EXPECT_EQ((legal[{op.value, strategy_of<Signaled>()}]) > 100, has_signals) << op.name;
    EXPECT_GE((refused[{op.value, strategy_of<Signaled>()}]), 100) << op.name;
    EXPECT_EQ((legal[{op.value, strategy_of<Waiting>()}]) >= 12, gathers) << op.name;
    EXPECT_GE((refused[{op.value, strategy_of<Waiting>()}]), 50) << op.name;
    EXPECT_EQ((legal[{op.value, strategy_of<PeerStore>()}]) >= 12, has_signals) << op.name;
    EXPECT_GE((refused[{op.value, strategy_of<PeerStore>()}]), 12) << op.name;
  }
}

TEST(Check, what_is_illegal_by_itself_suits_no_problem) {
  const Problem problem{Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 8};
  for (const auto& [config, is_legal] : cases::alone()) {
    if (is_legal) continue;
    const auto alone = check(config);
    const auto outcome = check(problem, config);
    const auto able = check(problem, config, {});
    ASSERT_FALSE(outcome) << to_string(config);
    ASSERT_FALSE(able) << to_string(config);
    EXPECT_EQ(outcome.error().message, alone.error().message);
    EXPECT_EQ(able.error().message, alone.error().message);
  }
}

TEST(Check, random_wave_groups_are_judged_as_their_tiles_are) {
  std::mt19937 random(11);
  const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
  int legal = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    const Problem problem{
        Op::gemm_reduce_scatter, 4 * (1 + below(400)), 8 * (1 + below(100)), 64, Elements::bf16, 4};
    Signaled config{.tile = {64, 64 + 64 * below(2), 64, 4, 1},
                    .swizzle = 1 + below(4),
                    .comm_ctas = 8,
                    .transport = all_groups_by(below(2) == 0 ? Transport::copy_engine
                                                             : Transport::peer_access)};
    const TileOrder order = tile_order(problem, config.tile, config.swizzle);
    // Wave groups that mostly end at a legal cut, now and then a tile beside it.
    const bool by_panels = config.transport.last == Transport::copy_engine;
    for (std::int64_t end = 0; end < order.tiles();) {
      std::int64_t next = cut_at(order, end + 1 + below(64)).tiles;
      if (by_panels) next = end + order.column_tiles(0) * order.columns() * (1 + below(2));
      next = std::clamp(next, end + 1, order.tiles());
      if (below(16) == 0) ++next;
      config.wave_groups.push_back(next - end);
      end = next;
    }
    const bool expected = cuts_up(problem, config);
    ASSERT_EQ(check(problem, config).has_value(), expected)
        << to_string(problem) << " " << to_string(config);
    legal += expected ? 1 : 0;
  }
  EXPECT_GT(legal, kRounds / 10);
  EXPECT_LT(legal, kRounds * 9 / 10);
}

TEST(Check, a_launch_has_room_for_192_regions) {
  const Problem problem{Op::gemm_all_reduce, 128, 128 * 256, 64, Elements::bf16, 2};
  Signaled config{.tile = {128, 128, 64, 4, 1}, .swizzle = 1, .comm_ctas = 8};
  config.wave_groups.assign(191, 1);
  config.wave_groups.push_back(256 - 191);
  EXPECT_TRUE(check(problem, config));
  config.wave_groups.assign(192, 1);
  config.wave_groups.push_back(256 - 192);
  expect_named(check(problem, config), "groups: 193 regions of C: expected at most 192");
}

TEST(Check, peer_access_reaches_row_blocks_of_less_than_2_to_the_34_elements) {
  const std::int64_t side = std::int64_t{1} << 17;
  const auto judged = [](const Problem& problem, Transport transport) {
    Signaled config{.tile = {65536, 65536, 64, 4, 1},
                    .swizzle = 1,
                    .comm_ctas = 8,
                    .transport = all_groups_by(transport)};
    config.wave_groups = {tile_order(problem, config.tile, config.swizzle).tiles()};
    return check(problem, config);
  };
  const Problem least{Op::gemm_all_reduce, side, side, 64, Elements::bf16, 2};
  expect_named(judged(least, Transport::peer_access), "m,n = 131072,131072");
  EXPECT_TRUE(judged(least, Transport::ring));
  Problem below = least;
  below.m = side - 1;
  EXPECT_TRUE(judged(below, Transport::peer_access));
  // The rows of a block count, not those of the problem.
  const Problem blocks{Op::gemm_reduce_scatter, 2 * (side - 1), side, 64, Elements::bf16, 2};
  EXPECT_TRUE(judged(blocks, Transport::peer_access));
  const Problem higher{Op::gemm_all_to_all, 2 * side, side, 64, Elements::bf16, 2};
  EXPECT_FALSE(judged(higher, Transport::peer_access));
  // The matrix that travels counts: of all_gather_gemm and all_to_all_gemm it is A.
  const Sequential by_peers{.comm_ctas = 8, .transport = Transport::peer_access};
  expect_named(check(higher, by_peers), "m,n = 262144,131072");
  Problem gathered{Op::all_gather_gemm, 2 * side, 64, side, Elements::bf16, 2};
  for (const Op op : {Op::all_gather_gemm, Op::all_to_all_gemm}) {
    gathered.op = op;
    gathered.m = 2 * side;
    expect_named(check(gathered, by_peers), "m,k = 262144,131072");
    gathered.m -= 2;
    EXPECT_TRUE(check(gathered, by_peers));
  }
}

TEST(Check, a_refusal_names_the_field_and_what_is_allowed) {
  const Problem problem{Op::gemm_reduce_scatter, 1024, 512, 64, Elements::bf16, 4};
  const Signaled good{
      .tile = {64, 128, 64, 4, 1}, .swizzle = 1, .comm_ctas = 8, .wave_groups = {16, 48}};
  ASSERT_TRUE(check(problem, good));
  const auto changed = [&](auto change) {
    Signaled config = good;
    change(config);
    return check(problem, config);
  };
  expect_named(changed([](auto& c) { c.tile.block_n = 0; }), "tile: expected sides of 1 to 65536");
  expect_named(changed([](auto& c) { c.tile.stages = 65; }), "stages = 65: expected 1 to 64");
  expect_named(changed([](auto& c) { c.tile.cluster = 3; }), "cluster = 3: expected 1 to 2");
  expect_named(changed([](auto& c) { c.swizzle = 0; }), "swizzle = 0: expected 1 to");
  expect_named(changed([](auto& c) { c.comm_ctas = -1; }), "ctas = -1: expected 0 to 65535");
  expect_named(changed([](auto& c) { c.wave_groups.clear(); }),
               "groups: expected one or more tile counts");
  expect_named(changed([](auto& c) {
                 c.wave_groups = {16, 0};
               }),
               "groups: expected one or more tile counts");
  expect_named(changed([](auto& c) { c.wave_groups = {16, 44}; }), "60 tiles in all, expected 64");
  expect_named(changed([](auto& c) { c.wave_groups = {18, 46}; }), "within a column");
  expect_named(changed([](auto& c) {
                 c.transport = {Transport::ring, Transport::symmetric};
               }),
               "transport: expected one of ring");
  expect_named(changed([](auto& c) {
                 c.comm_ctas = kHandedOver;
                 c.transport = all_groups_by(Transport::peer_access);
               }),
               "ctas = 0: expected 1 or more with signaled by peer_access");
  expect_named(changed([](auto& c) {
                 c.wait = Wait::kernel;
                 c.transport = all_groups_by(Transport::copy_engine);
               }),
               "wait = kernel: expected driver with signaled by copy_engine");
  expect_named(changed([](auto& c) {
                 c.wave_groups = {4, 60};
                 c.transport = all_groups_by(Transport::copy_engine);
               }),
               "groups: transport copy_engine needs groups of whole swizzle groups");
  expect_named(check(problem, Chunked{.comm_ctas = 0, .chunks = 4}),
               "ctas = 0: expected 1 or more with chunked");
  expect_named(check(problem, Chunked{.comm_ctas = 8, .chunks = 257}),
               "chunks = 257: expected 1 to 256");
  expect_named(check(problem, Chunked{.comm_ctas = 8, .transport = Transport::peer_access}),
               "transport = peer_access: chunked has no such transport");
  expect_named(check(problem, Sequential{.transport = Transport::peer_access}),
               "ctas = 0: expected 1 or more by peer_access");
  expect_named(check(problem, Sequential{.comm_ctas = 8, .transport = Transport::copy_engine}),
               "ctas = 8: expected 0 by copy_engine");
  Problem gathered = problem;
  gathered.op = Op::all_gather_gemm;
  expect_named(check(gathered, good), "strategy signaled: cannot run all_gather_gemm");
}

// Checks on a machine.

/// The transports of each collective, as docs/architecture.md and core/config/transport.hpp give
/// them.
const std::map<Op, std::set<Transport>> kCarriers{
    {Op::gemm_all_reduce, {Transport::ring, Transport::symmetric, Transport::peer_access}},
    {Op::gemm_reduce_scatter, {Transport::ring, Transport::symmetric, Transport::peer_access}},
    {Op::all_gather_gemm,
     {Transport::ring, Transport::symmetric, Transport::copy_engine, Transport::peer_access}},
    {Op::gemm_all_to_all, {Transport::ring, Transport::copy_engine, Transport::peer_access}},
    {Op::all_to_all_gemm, {Transport::ring, Transport::copy_engine, Transport::peer_access}}};

std::vector<Transport> carriers_of(const Config& config) {
  if (const auto* signaled = std::get_if<Signaled>(&config)) {
    return {signaled->transport.beside_gemm, signaled->transport.last};
  }
  if (const auto* chunked = std::get_if<Chunked>(&config)) return {chunked->transport};
  if (const auto* waiting = std::get_if<Waiting>(&config)) {
    if (waiting->transport == Transport::copy_engine) return {};  // copies are no collective
    return {waiting->transport};
  }
  // Its GEMM needs memory that peers can reach, as collectives by peer access do.
  if (std::holds_alternative<PeerStore>(config)) return {Transport::peer_access};
  return {std::get<Sequential>(config).transport};
}

/// Sets of transports as bits, in the order of `Transport`.
constexpr int kSetsOfTransports = 16;

EnumSet<Transport> transports_of(int bits) {
  EnumSet<Transport> set;
  for (int t = 0; t < 4; ++t) {
    if ((bits >> t & 1) != 0) set.insert(static_cast<Transport>(t));
  }
  return set;
}

TEST(Check, a_machine_needs_the_transports_and_the_collective_one_that_carries_it) {
  int legal = 0;
  int refused = 0;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      if (!check(problem, config)) continue;
      for (int bits = 0; bits < kSetsOfTransports; ++bits) {
        bool expected = true;
        for (const Transport transport : carriers_of(config)) {
          const bool is_there = (bits >> static_cast<int>(transport) & 1) != 0;
          expected &= is_there && kCarriers.at(problem.op).contains(transport);
        }
        const auto outcome = check(problem, config, {.transports = transports_of(bits)});
        ASSERT_EQ(outcome.has_value(), expected)
            << to_string(problem) << " " << to_string(config) << " with transports " << bits;
        ++(expected ? legal : refused);
      }
    }
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Check, a_machine_needs_the_ranks_the_sms_and_the_ctas) {
  const Problem problem{Op::gemm_all_reduce, 1024, 1024, 64, Elements::bf16, 4};
  for (const int ctas : {0, 1, 15, 16, 17, 65535}) {
    for (const int sms : {1, 2, 16, 17, 18, 65536}) {
      for (const int most : {0, 1, 16, 17, 65535}) {
        for (const int ranks : {2, 3, 4, 8}) {
          const Capabilities machine{.ranks = ranks, .sms = sms, .comm_ctas = most};
          // A GEMM beside the collective needs an SM of its own.
          const bool expected = ranks >= 4 && ctas < sms && ctas <= most;
          const Signaled signaled{
              .tile = {128, 128, 64, 4, 1}, .swizzle = 1, .comm_ctas = ctas, .wave_groups = {64}};
          EXPECT_EQ(check(problem, Sequential{.comm_ctas = ctas}, machine).has_value(), expected);
          EXPECT_EQ(check(problem, Chunked{.comm_ctas = ctas, .chunks = 2}, machine).has_value(),
                    expected && ctas > 0);
          EXPECT_EQ(check(problem, signaled, machine).has_value(), expected)
              << ctas << " CTAs, at most " << most << ", of " << sms << " SMs, " << ranks
              << " ranks";
        }
      }
    }
  }
  expect_named(check(problem, Sequential{}, {.ranks = 2}), "ranks = 4: expected 2 to 2");
  expect_named(check(problem, Sequential{.comm_ctas = 132}, {.sms = 132}),
               "ctas = 132: expected at most 131");
  expect_named(check(problem, Sequential{.comm_ctas = 65}, {.sms = 132, .comm_ctas = 64}),
               "ctas = 65: expected at most 64");
}

TEST(Check, a_machine_needs_the_kernels_and_the_memory_for_the_tile) {
  const Problem problem{Op::gemm_all_reduce, 1024, 1024, 64, Elements::bf16, 4};
  const auto signaled = [](const Tile& tile) {
    const std::int64_t tiles = 1024 / tile.block_m * (1024 / tile.block_n);
    return Signaled{.tile = tile, .swizzle = 1, .comm_ctas = 8, .wave_groups = {tiles}};
  };
  const Capabilities hopper{.limits = gpu_limits(90)};
  const Capabilities ampere{.limits = gpu_limits(80)};
  const Tile small{128, 128, 64, 4, 1};
  const Tile large{128, 256, 64, 4, 1};  // 210 KiB of shared memory
  const Tile shared{128, 128, 64, 4, 2};
  EXPECT_TRUE(check(problem, signaled(small), hopper));
  EXPECT_TRUE(check(problem, signaled(small), ampere));
  EXPECT_TRUE(check(problem, signaled(large), hopper));
  expect_named(check(problem, signaled(large), ampere),
               "tile 128x256x64 stages=4 cluster=1: does not fit this GPU");
  EXPECT_TRUE(check(problem, signaled(shared), hopper));
  EXPECT_FALSE(check(problem, signaled(shared), ampere));  // Ampere has no clusters
  EXPECT_TRUE(check(problem, signaled(large), {}));
  const Capabilities without{.gemms = {GemmFamily::library}};
  expect_named(check(problem, signaled(small), without),
               "strategy signaled: needs a generated kernel");
  EXPECT_TRUE(check(problem, Sequential{}, without));
  EXPECT_TRUE(check(problem, Chunked{.comm_ctas = 8}, without));
  EXPECT_FALSE(check(problem, Sequential{}, {.gemms = {}}));
}

TEST(Check, operands_of_8_bits_need_a_hopper_gpu) {
  const Problem problem{Op::gemm_all_reduce, 1024, 1024, 128, Elements::e4m3_rows_bf16, 4};
  EXPECT_TRUE(check(problem, Sequential{}, {.limits = gpu_limits(90)}));
  EXPECT_TRUE(check(problem, Sequential{}, {}));
  for (const int capability : {80, 89, 100}) {
    expect_named(check(problem, Sequential{}, {.limits = gpu_limits(capability)}),
                 "has no kernels for 8-bit operands: expected 9.0, Hopper");
  }
}

TEST(Check, a_machine_that_can_do_anything_runs_whatever_is_carried) {
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      bool carried = true;
      for (const Transport transport : carriers_of(config)) {
        carried &= kCarriers.at(problem.op).contains(transport);
      }
      ASSERT_EQ(check(problem, config, {}).has_value(), check(problem, config) && carried)
          << to_string(problem) << " " << to_string(config);
    }
  }
}

}  // namespace
}  // namespace overlaptune
