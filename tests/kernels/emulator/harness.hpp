#include <array>
#include <semaphore>
#include "core/arrivals.hpp"
#include "core/push_order.hpp"
#include "core/store_order.hpp"
#include "core/tiling.hpp"
namespace emu {
using namespace device;
inline int k_steps = 0;
struct Tile3 { int block = -9, row = -9, col = -9; bool operator==(const Tile3&) const = default; };
inline thread_local Tile3 cur;
inline thread_local int step = -1;
inline std::map<std::tuple<int,int,int,int>, int> stored;  // destination, x, y, z
inline bool shared_tiles = false;
inline std::map<unsigned, Tile3> records;
inline char id_of(const void* map) { return static_cast<const TensorMap*>(map)->opaque[0]; }
inline void load(unsigned to, const void* map, unsigned barrier, int x, int y, int z) {
  { std::lock_guard l(m); ctas[to >> 20]->tags[to & 0xfffff] = {reinterpret_cast<const void*>(static_cast<long>(id_of(map))), x, y, z}; }
  if (rng() % 4 == 0) std::this_thread::yield();
  complete(barrier, id_of(map) == 'b' ? kBLoadBytes : kABytes);
}
inline unsigned dynamic_base() { return (address(dynamic()) + 1023) / 1024 * 1024; }
inline void multiply(unsigned long long a, unsigned long long) {
  const unsigned base = dynamic_base();
  const unsigned stage = (static_cast<unsigned>(a) - base) / kStageBytes;
  const unsigned at_a = base + stage * kStageBytes;
  Tag ta, tb;
  { std::lock_guard l(m); ta = cta_->tags[at_a & 0xfffff]; tb = cta_->tags[(at_a + kABytes) & 0xfffff]; }
  const int s = ta.x / 64;
  const Tile3 now{ta.z + (reinterpret_cast<long>(ta.map) == 'o' ? 100 : 0), ta.y, tb.y};
  if (s == (shared_tiles && cluster_rank() == 1 ? (k_steps + 1) / 2 : 0) && step != s) { cur = now; step = s; return; }
  if (s != step && s != step + 1) fail("a step out of order");
  if (tb.x / 64 != s) fail("A and B of different steps");
  if (!(now == cur)) fail("operands of another tile");
  step = s;
}
inline void finished() {
  const int want = shared_tiles && cluster_rank() == 0 ? (k_steps + 1) / 2 - 1 : k_steps - 1;
  if (step != want && step != -2) fail("a tile that is not multiplied to its end");
  step = -2;
}
inline void write_slab(unsigned slab) {
  finished(); step = -2;
  std::memcpy(at(slab), &cur, sizeof cur);
}
inline void add(unsigned slab) {
  finished();
  Tile3 theirs; std::memcpy(&theirs, at(slab), sizeof theirs);
  if (theirs.row != cur.row || theirs.col != cur.col) fail("added another tile");
}
inline void store(const void* map, unsigned from, int x, int y, int z) {
  Tile3 tile; std::memcpy(&tile, at(from), sizeof tile);
  if (x < tile.col || x >= tile.col + BLOCK_N || y < tile.row || y >= tile.row + BLOCK_M) fail("stored another tile");
  std::lock_guard l(m);
  const auto* t = static_cast<const TensorMap*>(map);
  ++stored[{t->opaque[1], x, y, z}];
}
inline void load_bytes(unsigned to, const char* from, unsigned barrier, unsigned bytes) {
  if (bytes > kStageBytes) fail("too many bytes");
  std::memcpy(at(to), from, bytes); complete(barrier, bytes);
}
inline void store_bytes(char* to, unsigned from, unsigned bytes) { std::memcpy(to, at(from), bytes); }

struct Params { TensorMap a{}, b{}, own_a{}; Outputs outputs{}; Order order{}; Peers peers{}; Run run{}; int blocks = 0; int cluster = 1; };

inline void run_rank(const Params& p, int first_cta, int resident) {
  // CTAs of a rank, in clusters; only so many clusters at once
  std::counting_semaphore<> room(resident);
  std::vector<std::thread> all;
  for (int c = 0; c < p.blocks; c += p.cluster) {
    all.emplace_back([&, c] {
      room.acquire();
      std::vector<std::thread> threads;
      for (int i = 0; i < p.cluster; ++i) {
        Cta& cta = *ctas[static_cast<std::size_t>(first_cta + c + i)];
        cta.barriers.clear(); cta.meets.clear(); for (int w = 0; w < 6; ++w) cta.meets[w] = {}; cta.exited = false; cta.tags.clear();
        cta.number = first_cta + c + i; cta.cluster = p.cluster; cta.alive = threads_of_cta;
      }
      clusters[(first_cta + c) / 2] = {};
      for (int i = 0; i < p.cluster; ++i) {
        for (int t = 0; t < threads_of_cta; ++t) {
          threads.emplace_back([&, c, i, t] {
            cta_ = ctas[static_cast<std::size_t>(first_cta + c + i)].get();
            rng.seed(static_cast<unsigned>(std::random_device{}()));
            threadIdx.x = static_cast<unsigned>(t < 4 * kLanes ? t / kLanes * 32 + t % kLanes : 128 * (t - 4 * kLanes + 1));
            blockIdx.x = static_cast<unsigned>(c + i); gridDim.x = static_cast<unsigned>(p.blocks);
            try {
#if WAITS
              device::kernel(p.a, p.b, p.outputs, p.order, p.peers, p.run, p.own_a);
#else
              device::kernel(p.a, p.b, p.outputs, p.order, p.peers, p.run);
#endif
            } catch (const Stop&) {}
            std::lock_guard l(m);
            if (--cta_->alive == 0) cta_->exited = true;
          });
        }
      }
      for (auto& t : threads) t.join();
      room.release();
    });
  }
  for (auto& t : all) t.join();
}
}  // namespace emu

int main(int argc, char** argv) {
  using namespace overlaptune;
  if (std::getenv("LAYOUT")) { device::Items* i = nullptr; (void)i; std::printf("items %zu full %zu empty %zu claimed %zu read %zu tasks %zu begun %zu\n", offsetof(device::Items, items), offsetof(device::Items, full), offsetof(device::Items, empty), offsetof(device::Items, claimed), offsetof(device::Items, read), offsetof(device::Items, tasks), (size_t)0); }
  auto arg = [&](int i, int d) { return argc > i ? std::atoi(argv[i]) : d; };
  const int ranks = RANKS ? RANKS : arg(1, 2);
  const int ctas = arg(2, 4), resident = arg(3, 4), rounds = arg(4, 3), steps = arg(5, 5), panels = arg(6, 3), columns = arg(7, 4), op = arg(8, 0), share = arg(9, 0), meets = arg(10, 1), pushing = arg(11, 1);
  emu::k_steps = steps; emu::threads_of_cta = 4 * emu::kLanes + CONSUMERS; emu::shared_tiles = share;
  for (int i = 0; i < ranks * 1024; ++i) if (i < ranks * 64) emu::ctas.push_back(std::make_unique<emu::Cta>());
  for (std::size_t i = 0; i < emu::ctas.size(); ++i) emu::ctas[i]->number = static_cast<int>(i);
  Problem problem{.op = WAITS ? Op::all_gather_gemm : op == 0 ? Op::gemm_reduce_scatter : op == 1 ? Op::gemm_all_reduce : Op::gemm_all_to_all, .m = ranks * panels * BLOCK_M, .n = columns * BLOCK_N, .k = steps * 64, .ranks = ranks};
  const Tile tile{BLOCK_M, BLOCK_N, 64, STAGES, CLUSTER};
  std::vector<device::RankWords> words(static_cast<std::size_t>(ranks));
  for (auto& w : words) std::memset(&w, 0, sizeof w);
  std::vector<emu::Params> params(static_cast<std::size_t>(ranks));
  const TileOrder order = tile_order(problem, tile, 2);
  std::vector<std::vector<char>> slots(static_cast<std::size_t>(ranks));
  const int per = CLUSTER == 2 || share ? 2 : 1;
  long long expected = 0;
#if RANKS
  std::vector<Cut> cuts;
  for (std::int64_t at = order.column_tiles(0) * 2; at < order.tiles(); at += order.column_tiles(0) * 2) { const Cut c = cut_at(order, at); if (c.tiles > (cuts.empty() ? 0 : cuts.back().tiles)) cuts.push_back(c); }
  if (cuts.empty() || cuts.back().tiles < order.tiles()) cuts.push_back(cut_at(order, order.tiles()));
  if (cuts.size() > GROUPS) return 9;
  const StoreOrder stored = store_order(problem, order, cuts);
  for (auto& s : slots) s.resize(static_cast<std::size_t>((ranks - 1) * stored.slots() * slot_bytes(stored) + 16));
  const int signals_tile = 2 * (IN_TURN ? 1 : CONSUMERS);
  for (int r = 0; r < ranks; ++r) {
    auto& p = params[static_cast<std::size_t>(r)];
    p.peers.rank = r; p.peers.owns_blocks = stored.owns_blocks; p.peers.adds = problem.op != Op::gemm_all_to_all; p.peers.own_later = stored.own_later;
    p.peers.slots = static_cast<int>(stored.slots()); p.peers.groups_count = static_cast<int>(stored.groups.size());
    long long computed = 0, own_before = 0, into_c = 0;
    for (std::size_t i = 0; i < stored.groups.size(); ++i) {
      const auto& g = stored.groups[i];
      const long long own = stored.share(i, r).count();
      const long long all = g.tiles.count() * (stored.owns_blocks ? ranks : 1);
      computed += all - own + (stored.own_later ? own_before : own); own_before = own;
      p.peers.groups[i] = {static_cast<int>(g.tiles.end), static_cast<int>(computed), static_cast<int>(g.slot), p.peers.adds ? static_cast<device::u32>((ranks - 1) * own * signals_tile) : 0};
      if (!p.peers.adds) into_c += (ranks - 1) * own;
      if (!p.peers.owns_blocks) into_c += g.tiles.count() - own;
    }
    p.peers.done = static_cast<device::u32>(into_c * signals_tile);
    for (int q = 0; q < ranks; ++q) { p.peers.slots_of[q] = slots[static_cast<std::size_t>(q)].data(); p.outputs.c[q].opaque[0] = 'c'; p.outputs.c[q].opaque[1] = static_cast<char>(q * 8 + (problem.op == Op::gemm_all_to_all ? r : 0)); }
  }
  const long long tiles = order.tiles();
  const int order_blocks = 1;
  const TileOrder& in_kernel = stored.part;
  long long items = CLUSTER == 2 ? (tiles + 1) / 2 : tiles;
#else
  const ArrivalOrder arrivals = arrival_order(problem, tile, 2);
  std::vector<Cut> cuts{arrival_cut(arrivals, 1, 0)};
  const std::int64_t swizzles = arrivals.block.swizzle_groups();
  for (int b = 1; b < ranks; ++b) for (int i = 1; i <= 2; ++i) { const Cut c = arrival_cut(arrivals, b, i * swizzles / 2); if (c.tiles > cuts.back().tiles) cuts.push_back(c); }
  const auto rows = arriving_rows(arrivals, cuts);
  const long long tiles = arrivals.tiles();
  const int order_blocks = 1;
  const TileOrder& in_kernel = arrivals.block;
  const long long block_bytes = static_cast<long long>(panels) * BLOCK_M * problem.k * 2;
  std::vector<std::vector<char>> own(static_cast<std::size_t>(ranks)), gathered(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) { own[static_cast<std::size_t>(r)].resize(static_cast<std::size_t>(block_bytes)); for (std::size_t i = 0; i < own[static_cast<std::size_t>(r)].size(); ++i) own[static_cast<std::size_t>(r)][i] = static_cast<char>(i * 31 + i / 977 + static_cast<std::size_t>(r) * 7); gathered[static_cast<std::size_t>(r)].resize(static_cast<std::size_t>(ranks * block_bytes)); }
  std::vector<std::int64_t> before;
  for (std::size_t g = 1; g < cuts.size(); ++g) before.push_back(cuts[g - 1].tiles / (CLUSTER == 2 ? 2 : 1));
  const int shares = (3 + per - 1) / per * per;
  const PushOrder pushes = push_order({.ctas = ctas / per, .pushing = pushing, .pushes_a_group = shares / per, .tiles_before = before, .pushes_a_tile = 2.0});
  long long items = (CLUSTER == 2 ? (tiles + 1) / 2 : tiles) + pushes.pushes;
  if (WAITS < cuts.size()) return 9;
  for (int r = 0; r < ranks; ++r) {
    auto& p = params[static_cast<std::size_t>(r)];
    p.peers.own = own[static_cast<std::size_t>(r)].data(); p.peers.own_block = r; p.peers.blocks = ranks; p.peers.block_tiles = static_cast<int>(tiles / ranks); p.peers.arrivals_count = static_cast<int>(cuts.size());
    p.peers.pushes = static_cast<int>(pushes.pushes); p.peers.first = static_cast<int>(pushes.first); p.peers.period_tiles = static_cast<int>(pushes.period_tiles); p.peers.period_pushes = static_cast<int>(pushes.period_pushes); p.peers.shares = shares; p.peers.shares_an_item = per;
    for (std::size_t g = 0; g < cuts.size(); ++g) {
      auto& a = p.peers.arrivals[g]; a.end = static_cast<int>(cuts[g].tiles);
      if (g == 0) continue;
      const int peer = (r + rows[g].block) % ranks;
      const long long first = rows[g].first_row * problem.k * 2;
      a.counter = &words[static_cast<std::size_t>(r)].counters[g]; a.value = static_cast<device::u32>(shares);
      a.from = reinterpret_cast<const device::uint4*>(own[static_cast<std::size_t>(r)].data() + first); a.to = reinterpret_cast<device::uint4*>(gathered[static_cast<std::size_t>(peer)].data() + r * block_bytes + first);
      a.receiver = &words[static_cast<std::size_t>(peer)].counters[g]; a.vectors = static_cast<int>(rows[g].rows * problem.k * 2 / 16); a.most = (a.vectors + shares - 1) / shares;
    }
    p.own_a.opaque[0] = 'o'; p.outputs.c[0].opaque[0] = 'c'; p.outputs.c[0].opaque[1] = static_cast<char>(r * 8);
    p.order.segments[0] = {.end = static_cast<int>(tiles)};
  }
#endif
  const long long blocks = share ? 2 * items : std::min<long long>(ctas / per, items) * per;
  if (blocks > 64) { std::fprintf(stderr, "too many CTAs\n"); return 9; }
  for (int r = 0; r < ranks; ++r) {
    auto& p = params[static_cast<std::size_t>(r)];
    p.a.opaque[0] = 'a'; p.b.opaque[0] = 'b';
    p.order = {.panels = static_cast<int>(in_kernel.panels_per_block()), .blocks = order_blocks, .columns = static_cast<int>(in_kernel.columns()), .raster = static_cast<int>(std::min<std::int64_t>(2, in_kernel.panels_per_block())), .tiles = static_cast<int>(tiles), .k_steps = steps, .ctas = share ? 2 : 1, .signal = share ? 1 : 2, .counters = nullptr};
#if WAITS
    p.order.segments[0] = {.end = static_cast<int>(tiles)};
#endif
    p.run = {.rank = r, .ranks = ranks, .plan = 0, .meets = meets, .items = static_cast<int>(items), .clusters = static_cast<int>(blocks / per), .control = nullptr};
    for (int q = 0; q < ranks; ++q) p.run.words[q] = &words[static_cast<std::size_t>(q)];
    p.blocks = static_cast<int>(blocks); p.cluster = per;
  }
  std::atomic<bool> done{false};
  std::thread watch([&] {
    long last = -1; auto since = std::chrono::steady_clock::now();
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const long now = emu::progress;
      if (now != last) { last = now; since = std::chrono::steady_clock::now(); }
      if (std::chrono::steady_clock::now() - since > std::chrono::seconds(8)) { std::fprintf(stderr, "DEADLOCK\n"); emu::dump(); ++emu::errors; emu::stop = true; emu::cv.notify_all(); return; }
    }
  });
  for (int round = 0; round < rounds && !emu::stop; ++round) {
    emu::stored.clear();
    if (!meets) for (auto& w : words) { std::memset(w.counters, 0, sizeof w.counters); w.done = 0; }
    std::vector<std::thread> all;
    for (int r = 0; r < ranks; ++r) all.emplace_back([&, r] { std::this_thread::sleep_for(std::chrono::milliseconds(emu::rng() % 3 * r)); emu::run_rank(params[static_cast<std::size_t>(r)], r * 64, resident); });
    for (auto& t : all) t.join();
    if (emu::stop) break;
    for (auto& w : words) if (w.claims != 0) emu::fail("the queue is not empty");
    // every slab of C once
    const long long slabs = BLOCK_M * BLOCK_N / (64 * device::kSlab);
    std::map<int, long long> counts;
    for (auto& [key, n] : emu::stored) { if (n != 1) emu::fail("a slab stored twice"); ++counts[std::get<0>(key)]; }
    long long sum = 0; for (auto& [k, n] : counts) sum += n;
    if (RANKS) expected = slabs * (problem.op == Op::gemm_all_reduce ? tiles * ranks : problem.op == Op::gemm_reduce_scatter ? tiles : tiles * ranks);
    else expected = slabs * tiles * ranks;
    if (sum != expected) { std::fprintf(stderr, "stored %lld of %lld\n", sum, expected); ++emu::errors; }
#if WAITS
    for (int r = 0; r < ranks; ++r) for (int q = 0; q < ranks; ++q) if (q != r && std::memcmp(gathered[static_cast<std::size_t>(r)].data() + q * block_bytes, own[static_cast<std::size_t>(q)].data(), static_cast<std::size_t>(block_bytes)) != 0) emu::fail("rows that did not arrive");
    for (auto& g : gathered) std::fill(g.begin(), g.end(), 0);
#endif
  }
  done = true; watch.join();
  std::printf("%s tiles %lld items %lld blocks %lld\n", emu::errors ? "FAILED" : "ok", tiles, items, blocks);
  std::fflush(stdout); std::_Exit(emu::errors ? 1 : 0);
}
