#include "model/gemm_physics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace overlaptune {

/// The constants are numbers of one type, one behind the other.
using ConstantList = std::array<double, GemmConstants::kCount>;

Eigen::VectorXd GemmConstants::values() const {
  const auto list = std::bit_cast<ConstantList>(*this);
  return Eigen::Map<const Eigen::VectorXd>(list.data(), kCount);
}

GemmConstants GemmConstants::from_values(const Eigen::VectorXd& values) {
  ConstantList list{};
  std::copy_n(values.begin(), kCount, list.begin());
  return std::bit_cast<GemmConstants>(list);
}

namespace {

/// Share of `bytes` that L2 does not keep.
double spilled(double bytes, double cache_bytes) {
  const double ratio = cache_bytes / bytes;
  return 1 / (1 + ratio * ratio);
}

/// Bytes that a wave moves to and from HBM. Its tiles form a rectangle of whole columns of the
/// swizzle group, over several swizzle groups where n is narrow. Operands that are still in L2 from
/// the wave before are not loaded again; every byte is loaded at least once. Results are written
/// while the next wave is computed.
double missed_bytes(const GemmWork& work, double active, double cache_bytes) {
  const TileOrder& order = work.order;
  const auto columns = static_cast<double>(order.columns());
  const double across =
      std::min(active / std::min(static_cast<double>(order.column_tiles(0)), active), columns);
  const double high = active / across;
  const auto depth_bytes = static_cast<double>(work.k * operand_bytes(order.elements));
  const auto all_rows = static_cast<double>(order.block_rows * order.blocks);
  const auto all_columns = static_cast<double>(order.n);
  const double distinct =
      (std::min(high * order.block_m, all_rows) + std::min(across * order.block_n, all_columns)) *
      depth_bytes;
  const double operands = (all_rows + all_columns) * depth_bytes;
  const double results = all_rows * all_columns * static_cast<double>(result_bytes(order.elements));
  const double waves = std::max(1.0, static_cast<double>(order.tiles()) / active);
  const double once = std::min(operands / waves, distinct);
  return once + spilled(operands, cache_bytes) * (distinct - once) +
         spilled(results, cache_bytes) * results / waves;
}

}  // namespace

bool is_misaligned(const GemmWork& work) {
  constexpr std::int64_t kSectorBytes = 32;
  return work.k * operand_bytes(work.order.elements) % kSectorBytes != 0;
}

TileBounds tile_bounds(const GemmWork& work, const GemmConstants& constants) {
  const Tile& tile = work.tile;
  const TileOrder& order = work.order;
  // The steps along k of one CTA.
  const auto steps =
      std::ceil(static_cast<double>((work.k + tile.block_k - 1) / tile.block_k) / work.ctas);
  const double depth = steps * tile.block_k;
  const double bytes = depth * static_cast<double>(operand_bytes(order.elements));
  // The tensor cores always compute whole tiles. The part of a tile that lies outside C is not
  // stored, and only some of it is loaded.
  const double rows =
      static_cast<double>(order.block_rows) / static_cast<double>(order.panels_per_block());
  const double columns = static_cast<double>(order.n) / static_cast<double>(order.columns());
  const auto active = static_cast<double>(std::min<std::int64_t>(order.tiles(), work.sms));

  const double m = tile.block_m;
  const double n = tile.block_n;
  const double tensor = (constants.per_mac * m * n + constants.per_fragment * (m + n)) * depth;
  const double clipped = constants.clipping / (1 + constants.clipping);
  const double loaded_m = tile.block_m - clipped * (tile.block_m - rows);
  const double loaded_n = tile.block_n - clipped * (tile.block_n - columns);
  const double operands = (loaded_m + loaded_n) * (tile.cluster > 1 ? constants.multicast : 1);
  const double feed =
      std::max(constants.per_operand_byte, constants.per_shared_byte * active * work.ctas) *
      operands * bytes;
  // L2 is limited by requests there, and a cluster of two requests B once. Kernels of libraries run
  // in clusters: 657 of 692 that were probed on H200.
  const int sharing = work.library ? 2 : tile.cluster;
  const double requested = is_misaligned(work)
                               ? constants.per_misaligned_byte * active * work.ctas *
                                     (loaded_m + loaded_n / sharing) * bytes
                               : 0;
  const double missed =
      constants.per_missed_byte * missed_bytes(work, active, constants.cache_bytes);
  // The first load is waited for. After that, the pipeline turns once in `stages` steps.
  const double latency = constants.load_latency * (1 + steps / tile.stages);

  TileBounds bounds;
  for (const double bound : {tensor, feed, requested, missed, latency}) {
    if (bound > bounds.slowest) {
      bounds.second = bounds.slowest;
      bounds.slowest = bound;
    } else if (bound > bounds.second) {
      bounds.second = bound;
    }
  }
  const double drain = constants.per_tile + constants.per_output_byte * rows * columns *
                                                static_cast<double>(result_bytes(order.elements));
  bounds.once = work.ctas * drain;  // adding up two halves costs as much as the end of another tile
  return bounds;
}

double fed_slower(const GemmWork& work, const GemmConstants& constants, double times) {
  GemmConstants slower = constants;
  slower.per_shared_byte *= times;
  slower.per_misaligned_byte *= times;
  slower.per_fragment *= times;
  slower.load_latency *= times;
  return tile_bounds(work, slower).time() / tile_bounds(work, constants).time();
}

}  // namespace overlaptune
