#include "run/gemm/generated_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace overlaptune::run {

namespace device = kernels::device;

namespace {

constexpr std::int64_t kVectorBytes = 16;

/// The number of shares of a group's rows: one for each pushing CTA, unless they would be small.
/// `most`: shares that can be made.
std::int64_t shares_of(const GeneratedRows::Pushes& pushes, std::int64_t bytes, std::int64_t most,
                       int ctas_an_item) {
  constexpr std::int64_t kSmallest = 32 << 10;
  const std::int64_t of_size = std::clamp<std::int64_t>(bytes / kSmallest, 1, pushes.ctas);
  const std::int64_t wanted = std::min(of_size, most);
  return (wanted + ctas_an_item - 1) / ctas_an_item * ctas_an_item;
}

/// Pushes of a share that take as long as a tile, nominally: the order of items is made with it,
/// and every order is right.
double pushes_a_tile(const QueuedKernel& kernel, std::int64_t k, double share_bytes) {
  constexpr double kFlopsAnSm = 5e12;  // of wgmma on an H100, 132 SMs
  constexpr double kBytesACta = 20e9;  // over NVLink 4, where 16 CTAs fill the links
  const double tile = 2.0 * kernel.tile.block_m * kernel.tile.block_n * static_cast<double>(k);
  return tile / kFlopsAnSm / (share_bytes / kBytesACta);
}

}  // namespace

QueuedItems queued_items(const QueuedKernel& kernel, const GeneratedOperands& operands,
                         std::int64_t tiles, int sms) {
  const std::int64_t of_tiles = (tiles + kernel.tiles_an_item - 1) / kernel.tiles_an_item;
  QueuedItems items{.all = of_tiles};
  if (operands.stores) {
    items.homes = operands.stores->before_waits / kernel.tiles_an_item;
  }
  if (operands.rows && operands.rows->arrivals.front().counter == nullptr) {
    items.homes = operands.rows->arrivals.front().end / kernel.tiles_an_item;
  }
  if (!operands.rows || !operands.rows->pushes || pushed_by_tiles(*operands.rows)) return items;
  const GeneratedRows& rows = *operands.rows;
  std::int64_t most_rows = 0;
  std::vector<std::int64_t> tiles_before;
  for (std::size_t group = 1; group < rows.arrivals.size(); ++group) {
    most_rows = std::max(most_rows, rows.arrivals[group].sent.rows);
    tiles_before.push_back(rows.arrivals[group - 1].end / kernel.tiles_an_item);
  }
  std::int64_t bytes = most_rows * operands.k * operand_bytes(kernel.elements);
  std::int64_t most_shares = bytes;
  if (rows.chunk_columns > 0) {  // an item has its share, whole rows, of all groups
    bytes *= static_cast<std::int64_t>(tiles_before.size());
    tiles_before.resize(1);
    most_shares = most_rows;
  }
  items.shares = shares_of(*rows.pushes, bytes, most_shares, kernel.ctas_an_item);
  const double share = static_cast<double>(bytes) / static_cast<double>(items.shares);
  items.order = push_order({.ctas = sms / kernel.ctas_an_item,
                            .pushing = rows.pushes->ctas / kernel.ctas_an_item,
                            .pushes_a_group = items.shares / kernel.ctas_an_item,
                            .tiles_before = tiles_before,
                            .pushes_a_tile = pushes_a_tile(kernel, operands.k, share)});
  items.all += items.order.pushes;
  items.homes = items.order.position_of_tile(items.homes);
  return items;
}

bool goes_on_by_steps(const GeneratedOperands& operands, const QueuedItems& items,
                      unsigned clusters) {
  constexpr std::int64_t kMany = 16;
  const bool waits = operands.stores && operands.stores->adds && operands.stores->own_later;
  return !waits || items.all < kMany * clusters;
}

device::Run run_of(const GeneratedOperands& operands, const QueuedItems& items, unsigned clusters) {
  device::Run run =
      device::run_of(operands.barrier, static_cast<int>(items.all), static_cast<int>(clusters));
  run.has_barrier = operands.has_barrier ? 1 : 0;
  run.homes = static_cast<int>(items.homes);
  run.deals = goes_on_by_steps(operands, items, clusters) ? 1 : 0;
  return run;
}

namespace {

/// The rows of this rank that a peer needs for its group `number`, as vectors.
void send(const TileOrder& order, const GeneratedOperands& operands, std::int64_t row_bytes,
          std::int64_t shares, std::size_t number, device::Arrival& to) {
  const GeneratedRows& rows = *operands.rows;
  const std::int64_t unit = rows.chunk_columns > 0 ? row_bytes / kVectorBytes : 1;
  const GeneratedRows::Pushes& pushes = *rows.pushes;
  const kernels::RankBarrier& barrier = operands.barrier;
  const ArrivingRows& sent = rows.arrivals[number].sent;
  const auto peer = static_cast<std::size_t>((barrier.rank + sent.block) % barrier.ranks);
  const std::int64_t first = sent.first_row * row_bytes;
  const std::int64_t block = barrier.rank * order.block_rows * row_bytes;
  const bool left_out = pushes.leaves_out_a_group && number + 1 == rows.arrivals.size();
  const std::int64_t vectors = left_out ? 0 : sent.rows * row_bytes / kVectorBytes;
  to.from =
      reinterpret_cast<const device::Vector*>(static_cast<const std::byte*>(rows.own) + first);
  to.to = reinterpret_cast<device::Vector*>(static_cast<std::byte*>(pushes.gathered[peer]) + block +
                                            first);
  to.receiver = barrier.flags[peer]->counters + number;
  to.vectors = static_cast<int>(vectors);
  to.most = static_cast<int>((vectors / unit + shares - 1) / shares * unit);
  if (to.counter == nullptr) return;
  // One more than ever comes, for a plan that is wrong on purpose.
  to.value = static_cast<std::uint32_t>(shares) + (left_out ? 1 : 0);
}

/// What a peer's group `number` waits for where tiles push: each counts each chunk of its rows.
void describe_tile_pushes(const TileOrder& order, const GeneratedOperands& operands, int pushers,
                          std::size_t number, device::Arrival& to) {
  const GeneratedRows& rows = *operands.rows;
  const kernels::RankBarrier& barrier = operands.barrier;
  const auto peer =
      static_cast<std::size_t>((barrier.rank + static_cast<int>(number)) % barrier.ranks);
  const bool left_out = rows.pushes->leaves_out_a_group && number + 1 == rows.arrivals.size();
  to.receiver = barrier.flags[peer]->counters + number;
  if (to.counter == nullptr) return;
  to.value = static_cast<std::uint32_t>(order.panels_per_block() * pushers) + (left_out ? 1 : 0);
}

}  // namespace

std::vector<std::byte> rows_parameter(const TileOrder& order, const GeneratedOperands& operands,
                                      const QueuedKernel& kernel, const QueuedItems& items,
                                      int most_groups, const MapsOfRows& maps) {
  const GeneratedRows& rows = *operands.rows;
  const bool in_chunks = rows.chunk_columns > 0;
  const bool by_tiles = pushed_by_tiles(rows);
  const int pushers = pushers_of_panel(order);
  const std::int64_t row_bytes = operands.k * operand_bytes(kernel.elements);
  const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
  return with_constant(most_groups, [&](auto groups) {
    device::RowsParams<groups> params{
        .own_a = maps.own,
        .own = rows.own,
        .own_block = rows.own_block,
        .blocks = order.blocks,
        .block_tiles = as_int(order.tiles() / order.blocks),
        .arrivals_count = as_int(static_cast<std::int64_t>(rows.arrivals.size())),
        .chunk_steps = as_int(in_chunks ? rows.chunk_columns / block_k_of(kernel.elements)
                                        : std::numeric_limits<int>::max()),
        .chunks =
            as_int(in_chunks ? (operands.k + rows.chunk_columns - 1) / rows.chunk_columns : 1),
        .row_vectors = as_int(row_bytes / kVectorBytes),
        .pushes = as_int(items.order.pushes),
        .first = as_int(items.order.first),
        .period_tiles = as_int(items.order.period_tiles),
        .period_pushes = as_int(items.order.period_pushes),
        .pushing = as_int(items.order.pushing),
        .shares = as_int(std::max<std::int64_t>(items.shares, 1)),
        .shares_an_item = kernel.ctas_an_item,
        .arrivals = {}};
    for (std::size_t i = 0; i < rows.arrivals.size(); ++i) {
      const GeneratedRows::Arrival& arrival = rows.arrivals[i];
      device::Arrival& to = params.arrivals[i];
      to.end = as_int(arrival.end);
      to.value = arrival.value;
      to.counter = arrival.counter;
      if (!rows.pushes || i == 0) continue;
      if (by_tiles) {
        describe_tile_pushes(order, operands, pushers, i, to);
      } else {
        send(order, operands, row_bytes, items.shares, i, to);
      }
    }
    if (!kernel.tiles_push) return parameter(params);
    static_assert(device::PushedByTilesParams<groups>::kMostPeers + 1 == kMostRanksOfTiles);
    device::PushedByTilesParams<groups> pushed{
        {params}, by_tiles ? pushers : 0, static_cast<int>(maps.gathered.size()), {}};
    std::copy(maps.gathered.begin(), maps.gathered.end(), pushed.gathered);
    return parameter(pushed);
  });
}

namespace {

/// Permits to send: as many storing warps fill the links of an H200, where each has two epilogue
/// subtiles of 64 columns under way. Those of two ranks that send each other their sums send half
/// as fast, because every second store is one into their own C (docs/results/kernels.md,
/// "Permits").
int permits_of(const GeneratedStores& stores, int bytes_under_way) {
  constexpr int kBytes = 24 * 2 * (8 << 10);
  constexpr int kBytesOfSums = 36 * 2 * (8 << 10);
  const bool in_turn = !stores.owns_blocks && stores.peers.size() == 2;
  return (in_turn ? kBytesOfSums : kBytes) / bytes_under_way;
}

/// The parameters for at most so many groups, and the bytes of them that a kernel takes which is
/// made for as many maps.
template <int kGroups>
std::vector<std::byte> stores_parameter(const GeneratedStores& stores,
                                        std::span<const device::TensorMap> maps,
                                        int bytes_under_way) {
  using Params = device::AtRanksParams<device::RankFlags::kMostRanks, kGroups>;
  Params params{.rank = stores.rank,
                .owns_blocks = stores.owns_blocks ? 1 : 0,
                .adds = stores.adds ? 1 : 0,
                .slots = static_cast<int>(stores.slots),
                .groups_count = static_cast<int>(stores.groups.size()),
                .permits = permits_of(stores, bytes_under_way),
                .own_later = stores.own_later ? 1 : 0,
                .done = stores.done,
                .groups = {},
                .slots_of = {},
                .c = {}};
  std::copy(stores.groups.begin(), stores.groups.end(), params.groups);
  for (std::size_t i = 0; i < stores.peers.size(); ++i) {
    params.slots_of[i] = static_cast<char*>(stores.peers[i].slots);
  }
  std::copy(maps.begin(), maps.end(), params.c);
  // The kernel has maps of its ranks only, and nothing behind them.
  static_assert(sizeof(device::AtRanksParams<3, kGroups>) ==
                offsetof(Params, c) + 3 * device::kParts * sizeof(device::TensorMap));
  return parameter(params, offsetof(Params, c) + maps.size_bytes());
}

}  // namespace

std::vector<std::byte> stores_parameter(const GeneratedStores& stores,
                                        std::span<const device::TensorMap> maps, int most_groups,
                                        int bytes_under_way) {
  return with_constant(most_groups, [&](auto groups) {
    return stores_parameter<groups>(stores, maps, bytes_under_way);
  });
}

}  // namespace overlaptune::run
