// The generated GEMM on Hopper that takes its work from a queue, with threads of the host
// (emulator/machine.hpp): all CTAs of all ranks end, whatever room there is for them; each tile is
// multiplied with its own operands, to its last step; each subtile of the result is stored once, at
// the place that its rank has for it, and rows that are pushed arrive. CMakeLists.txt compiles this
// file for each kind of kernel: it gives the macros of its tile, and RANKS, 0 for a kernel that
// waits for rows; of those, TILES_PUSH ranks for one whose tiles push them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "kernels/device/hopper_gemm.cuh"
#include "strategies/peer_store/store_order.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "strategies/waiting/push_order.hpp"
#include "tests/kernels/emulator/permit_watch.hpp"

namespace overlaptune {
namespace {

namespace device = kernels::device;

constexpr device::HopperTile kTile{.block_m = BLOCK_M,
                                   .block_n = BLOCK_N,
                                   .multiplied = MULTIPLIED,
                                   .stages = STAGES,
                                   .cluster = CLUSTER,
                                   .consumers = CONSUMERS,
                                   .ping_pong = PING_PONG != 0,
                                   .buffers = BUFFERS,
                                   .operand = device::Element::bf16,
                                   .result = device::Element::bf16};
constexpr int kGroups = 16;
constexpr int kRanks = RANKS > 0 ? RANKS : TILES_PUSH > 0 ? TILES_PUSH : 2;
#if RANKS
using Feed = device::RowsThere;
using Epilogue = device::AtRanks<RANKS, kGroups>;
#else
using Feed =
    std::conditional_t<(TILES_PUSH > 0), device::PushedByTiles<kGroups>, device::Rows<kGroups>>;
using Epilogue = device::IntoC<1>;
#endif
using Kernel = device::HopperGemm<kTile, Feed, Epilogue>;

/// How often each subtile was stored: by matrix, column, row and block.
std::map<std::tuple<int, int, int, int>, int> stores_made;
/// How often each step of a row panel arrived at a peer: by matrix, column and row.
std::map<std::tuple<int, int, int>, int> pushes_made;

constexpr int kMostCtas = 16;  // of a rank
constexpr int kSwizzle = 2;
constexpr int kLaunches = 2;  // of a rank, one after the other

struct Case {
  Op op = Op::all_gather_gemm;
  int ctas = 4;
  int room = 8;  // clusters, or CTAs, that run at once on each rank
  int steps = 5;
  int panels = 2;  // of a row block
  int columns = 3;
  bool shares = false;      // two CTAs share each tile
  bool has_barrier = true;  // no gate comes before the launch
  bool deals = true;        // clusters go on by equal steps where all are there
  int pushing = 1;          // CTAs, or tiles of a panel
  int of_rows = 4;          // shares of a group's rows, each of which is pushed by one CTA
  int permits = 2;          // of tiles on their way to other ranks
  int chunks = 1;           // of columns
  bool copies = false;      // others bring the rows; else the launch pushes them
  int rounds = 3;
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << to_string(each.op) << ", " << each.ctas << " CTAs, room for " << each.room << ", "
             << each.steps << " steps, " << each.panels << " x " << each.columns << " tiles"
             << (each.shares ? ", shared" : "") << (each.has_barrier ? "" : ", behind a gate")
             << (each.deals ? "" : ", in no fixed steps") << ", pushing " << each.pushing << " of "
             << each.of_rows << ", " << each.permits << " permits, " << each.chunks << " chunks"
             << (each.copies ? ", copied" : "");
}

/// The parameters of a launch of one rank.
struct Launch {
  device::TensorMap a = device::map_of(device::kOperandA, 0);
  device::TensorMap b = device::map_of(device::kOperandB, 0);
  device::Order order{};
  Feed::Params feed{};
  Epilogue::Params epilogue{};
  device::Run run{};

  void operator()() const {
    device::hopper_gemm<kTile, Feed, Epilogue>(a, b, order, feed, epilogue, run,
                                               device::NoParams{});
  }
};

int as_int(std::int64_t value) {
  return static_cast<int>(value);
}

/// Memory and parameters of the ranks of a case.
class Ranks {
 public:
  Ranks(const Case& given, int ranks)
      : case_(given),
        ranks_(ranks),
        ctas_an_item_(CLUSTER == 2 || given.shares ? 2 : 1),
        problem_{.op = given.op,
                 .m = std::int64_t{ranks} * given.panels * BLOCK_M,
                 .n = std::int64_t{given.columns} * BLOCK_N,
                 .k = std::int64_t{given.steps} * 64,
                 .ranks = ranks},
        flags_(static_cast<std::size_t>(ranks)),
        launches_(static_cast<std::size_t>(ranks)) {
    for (device::RankFlags& each : flags_) std::memset(&each, 0, sizeof each);
    set_up();
    for (int rank = 0; rank < ranks; ++rank) set_up_run(rank);
  }

  /// Launches on each rank, each after a gate where the case has one. Ranks begin at different
  /// times, and none waits for the others between two launches: as soon as its launch has ended,
  /// its memory is in use for something else.
  void run(emulator::Machine& machine) {
    stores_made.clear();
    pushes_made.clear();
    emulator::on_store = [this](int matrix, int x, int y, int z) { note_store(matrix, x, y, z); };
    if (RANKS > 0) permits_.watch();
    emulator::Meeting gate;
    const int threads = case_.copies ? 2 * ranks_ : ranks_;  // a copy engine for each rank
    machine.at_different_times(threads, [&](int thread) {
      if (thread >= ranks_) return bring_rows(machine, gate, threads, thread - ranks_);
      const int rank = thread;
      auto& received = received_[static_cast<std::size_t>(rank)];
      for (int launch = 0; launch < kLaunches; ++launch) {
        std::fill(received.begin(), received.end(), '\x55');
        if (!case_.has_barrier) {
          std::memset(flags(rank).counters, 0, sizeof flags(rank).counters);
          flags(rank).done = 0;
          for (int peer = 0; peer < ranks_; ++peer) {
            if (peer != rank) flags(peer).places[rank] = place_of(rank);
          }
          machine.meet(gate, threads);
        }
        machine.launch(rank * kMostCtas, ctas(), ctas_an_item_, case_.room,
                       launches_[static_cast<std::size_t>(rank)]);
      }
    });
  }

  [[nodiscard]] bool has_all_permits() const {
    return std::ranges::all_of(flags_, [](const device::RankFlags& each) {
      return each.permits_taken == each.permits_returned;
    });
  }

  /// From now on, the last rank comes to other work than the others.
  void differ() {
    launches_.back().run.step += device::u64{1} << 32;
    differs_ = true;
    permits_.expect_waits_to_end();
  }
  [[nodiscard]] device::Awaited ended_by() const {
    return static_cast<device::Awaited>(control_.what);
  }

  void expect_right() const {
    for (const device::RankFlags& each : flags_) {
      EXPECT_EQ(each.claims, 0U) << "an empty queue";
      EXPECT_EQ(each.arrived, 0U);
      EXPECT_EQ(each.left, 0U);
      for (const device::u32 here : each.here) EXPECT_EQ(here, 0U);
      EXPECT_EQ(each.dead, 0U) << "a world that goes on";
    }
    EXPECT_TRUE(has_all_permits());
    std::int64_t stored = 0;
    for (const auto& [subtile, times] : stores_made) {
      EXPECT_EQ(times, kLaunches);
      ++stored;
    }
    const std::int64_t subtiles = BLOCK_M * BLOCK_N / (64 * Kernel::kSubtile);
    // In reduce-scatter each rank stores its own tiles; in the other ops each rank, or each pair of
    // ranks, has a result of all tiles.
    const std::int64_t results = problem_.op == Op::gemm_reduce_scatter ? 1 : ranks_;
    const std::int64_t tiles =
        std::int64_t{case_.panels} * case_.columns * ranks_;  // of all row blocks
    EXPECT_EQ(stored, subtiles * tiles * results);
    expect_received();
  }

 private:
  [[nodiscard]] device::RankFlags& flags(int rank) {
    return flags_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int ctas() const {
    if (case_.shares) return 2 * as_int(items_);
    return as_int(std::min<std::int64_t>(case_.ctas / ctas_an_item_, items_)) * ctas_an_item_;
  }

  void set_up();
  void expect_received() const;
  void bring_rows(emulator::Machine& machine, emulator::Meeting& gate, int threads, int rank);

  static device::u32 part_of(int rank) { return rank % 2; }
  /// Where a rank has C, for ops whose tiles go to others.
  [[nodiscard]] device::u32 place_of(int rank) const {
    return problem_.op == Op::gemm_reduce_scatter ? device::kNoPlace
                                                  : device::placed_in(part_of(rank), 500U + rank);
  }
  void note_store(int matrix, int x, int y, int z);
  /// Steps of k whose columns arrive together.
  [[nodiscard]] int steps_of_chunk() const {
    return (case_.steps + case_.chunks - 1) / case_.chunks;
  }

  void set_up_run(int rank) {
    Launch& launch = launches_[static_cast<std::size_t>(rank)];
    launch.run = {.rank = rank,
                  .ranks = ranks_,
                  .plan = 0,
                  .has_barrier = case_.has_barrier ? 1 : 0,
                  .items = as_int(items_),
                  .clusters = ctas() / ctas_an_item_,
                  .homes = as_int(homes_),
                  .deals = case_.deals ? 1 : 0,
                  .step = 1,
                  .place = RANKS ? place_of(rank) : device::kNoPlace,
                  .control = &control_};
    for (int peer = 0; peer < ranks_; ++peer) launch.run.flags[peer] = &flags(peer);
    launch.order = {.panels = as_int(block_.panels_per_block()),
                    .blocks = 1,
                    .columns = as_int(block_.columns()),
                    .swizzle = as_int(std::min<std::int64_t>(kSwizzle, block_.panels_per_block())),
                    .tiles = as_int(tiles_),
                    .k_steps = case_.steps,
                    .ctas = case_.shares ? 2 : 1,
                    .signal = case_.shares ? 1 : 2,
                    .counters = nullptr};
#if !RANKS
    launch.epilogue.segments[0].end = as_int(tiles_);
#endif
  }

  Case case_;
  bool differs_ = false;
  int ranks_;
  int ctas_an_item_;
  Problem problem_;
  Tile tile_{BLOCK_M, BLOCK_N, 64, STAGES, CLUSTER};
  std::vector<device::RankFlags> flags_;
  emulator::PermitWatch permits_{flags_, kMostCtas, case_.permits};
  std::vector<Launch> launches_;
  device::WaitControl control_{};
  TileOrder block_{};  // the order in a row block
  std::int64_t tiles_ = 0;
  std::int64_t items_ = 0;
  std::int64_t homes_ = 0;
  std::vector<ArrivingRows> rows_;           // of each group, or nothing
  std::vector<std::vector<char>> own_;       // rows of A of each rank, or nothing
  std::vector<std::vector<char>> received_;  // the slots of each rank, or its gathered rows
};

#if RANKS

/// Cuts after every second panel, or so.
std::vector<Cut> cuts_of(const TileOrder& order) {
  const std::int64_t step = order.column_tiles(0) * 2;
  std::vector<Cut> cuts;
  for (std::int64_t tiles = step; tiles < order.tiles() + step; tiles += step) {
    const Cut cut = cut_at(order, std::min(tiles, order.tiles()));
    if (cuts.empty() || cut.tiles > cuts.back().tiles) cuts.push_back(cut);
  }
  return cuts;
}

void Ranks::set_up() {
  const TileOrder order = tile_order(problem_, tile_, kSwizzle);
  const StoreOrder stored = store_order(problem_, order, cuts_of(order));
  ASSERT_LE(stored.groups.size(), kGroups);
  block_ = stored.part;
  tiles_ = stored.tiles();
  items_ = CLUSTER == 2 ? (tiles_ + 1) / 2 : tiles_;
  homes_ = tiles_before_waits(stored, 0, problem_.op != Op::gemm_all_to_all) / CLUSTER;
  received_.resize(static_cast<std::size_t>(ranks_));
  for (auto& slots : received_) {
    slots.resize(static_cast<std::size_t>((ranks_ - 1) * stored.slots() * slot_bytes(stored)));
  }
  const bool adds = problem_.op != Op::gemm_all_to_all;
  const int signals_a_tile = 2 * Kernel::kOfOneTile;
  for (int rank = 0; rank < ranks_; ++rank) {
    Launch& launch = launches_[static_cast<std::size_t>(rank)];
    Epilogue::Params& peers = launch.epilogue;
    peers.rank = rank;
    peers.owns_blocks = stored.owns_blocks ? 1 : 0;
    peers.adds = adds ? 1 : 0;
    peers.permits = case_.permits;
    peers.own_later = stored.own_later ? 1 : 0;
    peers.slots = as_int(stored.slots());
    peers.groups_count = as_int(static_cast<std::int64_t>(stored.groups.size()));
    std::int64_t computed = 0;
    std::int64_t own_before = 0;
    std::int64_t into_c = 0;
    for (std::size_t i = 0; i < stored.groups.size(); ++i) {
      const StoreOrder::Group& group = stored.groups[i];
      const std::int64_t own = stored.share(i, rank).count();
      const std::int64_t all = group.tiles.count() * (stored.owns_blocks ? ranks_ : 1);
      computed += all - own + (stored.own_later ? own_before : own);
      own_before = own;
      const std::int64_t arrive = adds ? (ranks_ - 1) * own * signals_a_tile : 0;
      peers.groups[i] = {as_int(group.tiles.end), as_int(computed), as_int(group.slot),
                         static_cast<device::u32>(arrive)};
      if (!adds) into_c += (ranks_ - 1) * own;
      if (!stored.owns_blocks) into_c += group.tiles.count() - own;
    }
    peers.done = static_cast<device::u32>(into_c * signals_a_tile);
    for (int owner = 0; owner < ranks_; ++owner) {
      peers.slots_of[owner] = received_[static_cast<std::size_t>(owner)].data();
      for (int part = 0; part < device::kParts; ++part) {
        peers.c[device::kParts * owner + part] =
            device::map_of(device::kResult, (owner * ranks_ + rank) * device::kParts + part);
      }
    }
  }
}
void Ranks::expect_received() const {}
void Ranks::bring_rows(emulator::Machine& /*machine*/, emulator::Meeting& /*gate*/, int /*threads*/,
                       int /*rank*/) {}

void Ranks::note_store(int matrix, int x, int y, int z) {
  const int pair = matrix / device::kParts;
  const int at = pair / ranks_;
  const int from = pair % ranks_;
  const bool is_placed = at != from && place_of(at) != device::kNoPlace;
  const device::u32 told = device::placed_in(matrix % device::kParts, z);
  if (told != (is_placed ? place_of(at) : 0) && !differs_) {
    emulator::machine->fail("a subtile at another place than its rank has");
  }
  if (at != from) permits_.note_sent();
  // In all-to-all each pair of ranks has a result of its own.
  ++stores_made[{problem_.op == Op::gemm_all_to_all ? pair : at, x, y, 0}];
}

#else

void Ranks::set_up() {
  const ArrivalOrder order = arrival_order(problem_, tile_, kSwizzle);
  block_ = order.block;
  tiles_ = order.tiles();
  // The own rows, then two groups of each peer's, or one where there is one swizzle group only, or
  // where tiles push.
  std::vector<Cut> cuts{arrival_cut(order, 1, 0)};
  const std::int64_t swizzles = order.block.swizzle_groups();
  for (int block = 1; block < ranks_; ++block) {
    for (const std::int64_t swizzle : {swizzles / 2, swizzles}) {
      const Cut cut = arrival_cut(order, block, swizzle);
      if (TILES_PUSH && swizzle < swizzles) continue;
      if (cut.tiles > cuts.back().tiles) cuts.push_back(cut);
    }
  }
  ASSERT_LE(cuts.size(), kGroups);
  rows_ = arriving_rows(order, cuts);
  const std::int64_t block_bytes = case_.panels * BLOCK_M * problem_.k * 2;
  own_.resize(static_cast<std::size_t>(ranks_));
  received_.resize(static_cast<std::size_t>(ranks_));
  for (std::size_t rank = 0; rank < own_.size(); ++rank) {
    for (std::int64_t i = 0; i < block_bytes; ++i) {
      own_[rank].push_back(
          static_cast<char>(i * 31 + i / 977 + 7 * static_cast<std::int64_t>(rank)));
    }
    received_[rank].resize(static_cast<std::size_t>(ranks_ * block_bytes));
  }
  std::vector<std::int64_t> before;
  for (std::size_t i = 1; i < cuts.size(); ++i) before.push_back(cuts[i - 1].tiles / CLUSTER);
  const bool in_chunks = case_.chunks > 1;
  if (in_chunks) before.resize(1);  // an item has its share of all groups
  const PushOrder pushes = case_.copies || TILES_PUSH
                               ? PushOrder{}
                               : push_order({.ctas = case_.ctas / ctas_an_item_,
                                             .pushing = case_.pushing,
                                             .pushes_a_group = case_.of_rows / ctas_an_item_,
                                             .tiles_before = before,
                                             .pushes_a_tile = 2});
  const std::int64_t row_vectors = problem_.k * 2 / 16;
  items_ = (tiles_ + CLUSTER - 1) / CLUSTER + pushes.pushes;
  homes_ = cuts.front().tiles / CLUSTER;
  emulator::on_load = [this, block_bytes](int rank, int x, int y, int z) {
    if (z == rank) return;
    const auto first = (std::int64_t{y} * problem_.k + x) * 2;
    const char* const arrived =
        received_[static_cast<std::size_t>(rank)].data() + z * block_bytes + first;
    const char* const sent = own_[static_cast<std::size_t>(z)].data() + first;
    for (std::int64_t row = 0; row < BLOCK_M; ++row) {
      const std::int64_t at = row * problem_.k * 2;
      if (std::memcmp(arrived + at, sent + at, 128) == 0) continue;
      return emulator::machine->fail("loads rows that have not arrived");
    }
  };
  emulator::on_push = [this, block_bytes](int matrix, int x, int y) {
    ++pushes_made[{matrix, x, y}];
    const int sender = matrix % ranks_;
    char* const there =
        received_[static_cast<std::size_t>(matrix / ranks_)].data() + sender * block_bytes;
    for (std::int64_t row = y; row < y + BLOCK_M; ++row) {
      const std::int64_t at = (row * problem_.k + x) * 2;
      std::memcpy(there + at, own_[static_cast<std::size_t>(sender)].data() + at, 128);
    }
  };
  for (int rank = 0; rank < ranks_; ++rank) {
    Launch& launch = launches_[static_cast<std::size_t>(rank)];
    launch.a = device::map_of(device::kOperandA, rank);
    launch.feed.own_a = device::map_of(device::kOwnA, 0);
    launch.epilogue.c[0] = device::map_of(device::kResult, rank);
    const std::vector<char>& own = own_[static_cast<std::size_t>(rank)];
    Feed::Params& peers = launch.feed;
    peers.own = own.data();
    peers.own_block = rank;
    peers.blocks = ranks_;
    peers.block_tiles = as_int(tiles_ / ranks_);
    peers.arrivals_count = as_int(static_cast<std::int64_t>(cuts.size()));
    peers.chunk_steps = in_chunks ? steps_of_chunk() : std::numeric_limits<int>::max();
    peers.chunks = case_.chunks;
    peers.row_vectors = as_int(row_vectors);
    peers.pushes = as_int(pushes.pushes);
    peers.first = as_int(pushes.first);
    peers.period_tiles = as_int(pushes.period_tiles);
    peers.period_pushes = as_int(pushes.period_pushes);
    peers.pushing = as_int(pushes.pushing);
    peers.shares = case_.of_rows;
    peers.shares_an_item = ctas_an_item_;
#if TILES_PUSH
    peers.pushers = case_.pushing;
    peers.peers = ranks_ - 1;
    for (int turn = 1; turn < ranks_; ++turn) {
      const int at = (rank + turn) % ranks_ * ranks_ + rank;
      peers.gathered[turn - 1] = device::map_of(device::kAtPeer, at);
    }
#endif
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      device::Arrival& arrival = peers.arrivals[i];
      arrival.end = as_int(cuts[i].tiles);
      if (i == 0) continue;
      const int peer = (rank + rows_[i].block) % ranks_;
      const std::int64_t first = rows_[i].first_row * problem_.k * 2;
      char* const gathered =
          received_[static_cast<std::size_t>(peer)].data() + rank * block_bytes + first;
      arrival.counter = flags(rank).counters + i;
      arrival.value = case_.copies ? 1 : TILES_PUSH ? case_.panels * case_.pushing : case_.of_rows;
      arrival.from = reinterpret_cast<const device::Vector*>(own.data() + first);
      arrival.to = reinterpret_cast<device::Vector*>(gathered);
      arrival.receiver = flags(peer).counters + i;
      arrival.vectors = as_int(rows_[i].rows * problem_.k * 2 / 16);
      const int unit = in_chunks ? as_int(row_vectors) : 1;
      arrival.most = (arrival.vectors / unit + case_.of_rows - 1) / case_.of_rows * unit;
    }
  }
}

void Ranks::note_store(int matrix, int x, int y, int z) {
  ++stores_made[{matrix, x, y, z}];
}

/// The copy engines that bring a rank its peers' rows: chunk after chunk of columns, and of each
/// the rows of all groups, each counted when it is there.
void Ranks::bring_rows(emulator::Machine& machine, emulator::Meeting& gate, int threads, int rank) {
  const std::int64_t row_bytes = problem_.k * 2;
  const std::int64_t chunk_bytes = std::int64_t{steps_of_chunk()} * 128;
  for (int launch = 0; launch < kLaunches; ++launch) {
    machine.meet(gate, threads);
    for (std::int64_t begin = 0; begin < row_bytes; begin += chunk_bytes) {
      const std::int64_t bytes = std::min(chunk_bytes, row_bytes - begin);
      const auto chunk = static_cast<std::size_t>(begin / chunk_bytes);
      for (std::size_t group = 1; group < rows_.size(); ++group) {
        const int peer = (rank - rows_[group].block + ranks_) % ranks_;
        const std::vector<char>& sent = own_[static_cast<std::size_t>(peer)];
        const auto block = static_cast<std::int64_t>(sent.size()) * peer;
        for (std::int64_t row = 0; row < rows_[group].rows; ++row) {
          const std::int64_t at = (rows_[group].first_row + row) * row_bytes + begin;
          machine.jitter();
          std::memcpy(received_[static_cast<std::size_t>(rank)].data() + block + at,
                      sent.data() + at, static_cast<std::size_t>(bytes));
        }
        device::increment(flags(rank).counters + chunk * rows_.size() + group, 1);
        machine.went_on();
      }
    }
  }
}

void Ranks::expect_received() const {
  if (TILES_PUSH) {
    EXPECT_EQ(as_int(std::ssize(pushes_made)), ranks_ * (ranks_ - 1) * case_.panels * case_.steps);
    for (const auto& [step, times] : pushes_made) EXPECT_EQ(times, kLaunches);
  }
  for (std::size_t rank = 0; rank < received_.size(); ++rank) {
    for (std::size_t peer = 0; peer < own_.size(); ++peer) {
      if (peer == rank) continue;
      const auto begin =
          received_[rank].begin() + static_cast<std::ptrdiff_t>(peer * own_[peer].size());
      EXPECT_TRUE(std::equal(own_[peer].begin(), own_[peer].end(), begin))
          << "rows of rank " << peer << " on rank " << rank;
    }
  }
}

#endif

std::vector<Case> cases() {
  std::vector<Case> list;
#if RANKS
  const std::vector<Op> ops{Op::gemm_reduce_scatter, Op::gemm_all_to_all, Op::gemm_all_reduce};
  for (const Op op : ops) {
    list.push_back({.op = op});
    list.push_back({.op = op, .deals = false});
    list.push_back(
        {.op = op, .ctas = 8, .room = 3, .panels = 3, .columns = 4, .deals = false, .permits = 1});
    list.push_back({.op = op, .ctas = 8, .room = 1, .columns = 5, .has_barrier = false});
  }
#if CLUSTER == 1 && CONSUMERS == 2
  for (const int room : {8, 1}) {
    for (const Op op : {Op::gemm_reduce_scatter, Op::gemm_all_reduce}) {
      list.push_back({.op = op, .room = room, .panels = 1, .columns = 2, .shares = true});
    }
  }
#endif
  // Many groups, each of few tiles; and all items are taken at once, also those that wait.
  list.push_back({.op = Op::gemm_all_reduce, .ctas = 2, .steps = 2, .panels = 5, .columns = 3});
  list.push_back({.op = Op::gemm_all_reduce, .ctas = 14, .room = 14, .panels = 1, .columns = 3});
  // The loads of some items go ahead of what else is to be done for them.
  list.push_back(
      {.op = ops.front(), .ctas = 2, .steps = 1, .panels = 2, .columns = 4, .rounds = 25});
#elif TILES_PUSH > 3
  // More and fewer pushers than peers.
  for (const int pushing : {1, 3, 7, 10}) {
    for (const int chunks : {1, 2, 5, 13}) {
      list.push_back({.ctas = 4, .room = 2, .steps = 13, .panels = 1, .columns = 10, .rounds = 1});
      list.back().has_barrier = chunks != 2;
      list.back().pushing = pushing;
      list.back().chunks = chunks;
    }
  }
#elif TILES_PUSH
  for (const int chunks : {1, 2, 3}) {
    for (const int pushing : {1, 2, 3}) {
      list.push_back({.pushing = pushing, .chunks = chunks});
      list.push_back({.ctas = 8, .room = 3, .steps = 7, .columns = 4, .deals = false});
      list.push_back({.ctas = 14, .room = 14, .steps = 40, .panels = 1, .has_barrier = false});
      list.push_back({.ctas = 4, .room = 1, .steps = 13, .panels = 3, .has_barrier = false});
      for (std::size_t i = list.size() - 3; i < list.size(); ++i) {
        list[i].pushing = pushing;
        list[i].chunks = chunks;
      }
    }
  }
  // No more steps than stages.
  list.push_back({.ctas = 8, .steps = STAGES, .columns = 4, .pushing = 3, .chunks = 2});
  // A chunk for each step or two; chunks that end as the counts of those before come.
  list.push_back({.ctas = 8, .steps = 9, .has_barrier = false, .pushing = 2, .chunks = 9});
  list.push_back({.ctas = 8, .steps = 12, .has_barrier = false, .pushing = 3, .chunks = 6});
  list.push_back({.ctas = 8, .steps = 20, .pushing = 3, .chunks = 5});
  // Chunks that are there before the next step is stored.
  list.push_back({.ctas = 14, .room = 9, .steps = 37, .panels = 1, .columns = 12, .rounds = 8});
  list.back().pushing = 10;
  list.back().chunks = 4;
#else
  list.push_back({});
  list.push_back({.deals = false});
  list.push_back({.ctas = 8, .room = 1, .columns = 4, .has_barrier = false, .pushing = 2});
  list.push_back({.ctas = 2, .steps = 40, .panels = 1, .columns = 1});  // more steps than stages
  list.push_back({.ctas = 6, .room = 2, .steps = 1, .panels = 3, .columns = 2});
  // All items are taken at once, also those that wait.
  list.push_back({.ctas = 14, .room = 14, .steps = 2, .panels = 1, .columns = 2, .rounds = 50});
  for (const int chunks : Kernel::kWaitsForChunks ? std::vector{2, 3} : std::vector<int>{}) {
    list.push_back({.chunks = chunks});
    list.push_back(
        {.ctas = 8, .room = 1, .steps = 7, .columns = 4, .has_barrier = false, .chunks = chunks});
    list.push_back(
        {.ctas = 14, .room = 14, .steps = 40, .deals = false, .pushing = 4, .chunks = chunks});
    // Two groups of each peer's rows.
    list.push_back({.ctas = 8, .steps = 7, .panels = 3, .chunks = chunks});
    // One share more than full ones: a row or two in the last one, or none.
    list.push_back({.ctas = 8, .steps = 7, .pushing = 6, .of_rows = 6, .chunks = chunks});
    list.push_back({.ctas = 8, .steps = 7, .panels = 1, .of_rows = 130, .chunks = chunks});
    list.push_back(
        {.ctas = 14, .room = 14, .has_barrier = false, .chunks = chunks, .copies = true});
    list.push_back({.room = 2, .steps = 7, .has_barrier = false, .deals = false, .chunks = chunks});
    list.back().copies = true;
#if CLUSTER == 1 && CONSUMERS == 2
    list.push_back({.panels = 1, .shares = true, .has_barrier = false, .chunks = chunks});
    list.back().copies = true;
    list.push_back({.steps = 12, .panels = 1, .shares = true, .has_barrier = false});
    list.back().chunks = 2 * chunks;  // the second CTA begins with a later one
    list.back().copies = true;
#endif
  }
#endif
  return list;
}

TEST(EmulatedGemm, ends_and_stores_each_subtile_once) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(testing::Message() << each);
    emulator::tile = {.rows = BLOCK_M, .columns = BLOCK_N, .cluster = CLUSTER};
    emulator::k_steps = each.steps;
    emulator::tiles_are_shared = each.shares;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    emulator::Machine machine(kRanks * kMostCtas, CONSUMERS, seed);
    emulator::machine = &machine;
    Ranks ranks(each, kRanks);
    for (int round = 0; round < each.rounds && !HasFailure(); ++round) {
      ranks.run(machine);
      ASSERT_EQ(machine.faults(), "");
      ranks.expect_right();
    }
  }
}

/// The rules of `waiting` and the kernel say the same, each in its own words.
TEST(EmulatedGemm, waits_for_chunks_where_the_rules_allow_them) {
  EXPECT_EQ(Kernel::kWaitsForChunks,
            RANKS == 0 && may_have_chunks({BLOCK_M, BLOCK_N, 64, STAGES, CLUSTER}));
}

/// Rows that do not come are loaded all the same then, and sums added up; nobody reads the result.
void end_where_a_rank_does_other_work(const Case& each, std::string& faults, bool& permits_back) {
  emulator::tile = {.rows = BLOCK_M, .columns = BLOCK_N, .cluster = CLUSTER};
  emulator::tiles_are_shared = false;
  emulator::k_steps = each.steps;
  emulator::Machine machine(kRanks * kMostCtas, CONSUMERS, std::random_device{}());
  emulator::machine = &machine;
  Ranks ranks(each, kRanks);
  ASSERT_TRUE(each.has_barrier);
  emulator::on_load = [](int, int, int, int) {};
  ranks.differ();
  ranks.run(machine);
  EXPECT_EQ(ranks.ended_by(), device::Awaited::differs);
  faults = machine.faults();
  permits_back = ranks.has_all_permits();
}

TEST(EmulatedGemm, ends_where_a_rank_does_other_work) {
  std::string faults;
  bool permits_back = false;
  end_where_a_rank_does_other_work(cases().front(), faults, permits_back);
  EXPECT_EQ(faults.find("wait for ever"), std::string::npos) << faults;
  if (Kernel::kWaitsForChunks) {
    end_where_a_rank_does_other_work({.chunks = 2}, faults, permits_back);
    EXPECT_EQ(faults.find("wait for ever"), std::string::npos) << faults;
  }
#if RANKS
  // Where nothing is added up, all threads go on to their end.
  end_where_a_rank_does_other_work({.op = Op::gemm_all_to_all}, faults, permits_back);
  EXPECT_EQ(faults, "");
  EXPECT_TRUE(permits_back);
#endif
}

}  // namespace
}  // namespace overlaptune
