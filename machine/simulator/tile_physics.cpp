#include "machine/simulator/tile_physics.hpp"

#include <algorithm>
#include <cmath>

namespace overlaptune::sim {
namespace {

// Resources that a k step needs at once overlap almost perfectly. If two take equally long, the
// step takes 12 % longer than either.
constexpr double kOverlapNorm = 6;

// Tiles store this many columns at a time, 64 bytes of a row.
constexpr int kEvenColumns = 32;

double smooth_maximum(std::initializer_list<double> times) {
  const double largest = std::max(times);
  double sum = 0;
  for (const double time : times) sum += std::pow(time / largest, kOverlapNorm);
  return largest * std::pow(sum, 1 / kOverlapNorm);
}

/// Share of `bytes` that stays in the L2 cache while other operands stream through. It is smooth,
/// and one half where the data fill three quarters of the cache.
double resident_share(double bytes, double l2_bytes) {
  return 1 / (1 + std::pow(bytes / (0.75 * l2_bytes), 3));
}

/// Bytes of A and B read from device memory by the whole GEMM.
double operand_traffic(const GemmKernel& kernel, double active, double l2_bytes) {
  const TileOrder& order = kernel.order;
  const double row_bytes =
      static_cast<double>(kernel.k) * static_cast<double>(operand_bytes(order.elements));
  const double a = static_cast<double>(order.block_rows) * order.blocks * row_bytes;
  const double b = static_cast<double>(order.n) * row_bytes;
  const auto swizzle_tiles = static_cast<double>(order.columns() * order.column_tiles(0));
  const auto swizzle_rows = static_cast<double>(order.rows(0));
  const auto tiles = static_cast<double>(order.tiles());
  // A wave walks the columns of one swizzle group. The next wave reads its rows of A again unless
  // they stay in L2. B is read once for each swizzle group, or once for each wave if a wave holds
  // several groups.
  const double a_passes = std::max(1.0, swizzle_tiles / active);
  const double b_passes = std::max(1.0, tiles / std::max(swizzle_tiles, active));
  const double a_misses = 1 - resident_share(swizzle_rows * row_bytes, l2_bytes);
  const double b_misses = 1 - resident_share(b, l2_bytes);
  return a * (1 + (a_passes - 1) * a_misses) + b * (1 + (b_passes - 1) * b_misses);
}

/// Bytes that one tile loads from L2 in one k step. A cluster of two shares the load of the larger
/// operand (multicast).
double step_bytes(const Tile& tile, Elements elements) {
  const double larger = std::max(tile.block_m, tile.block_n);
  const double smaller = std::min(tile.block_m, tile.block_n);
  const double lines = smaller + (tile.cluster == 2 ? larger / 2 : larger);
  return lines * tile.block_k * static_cast<double>(operand_bytes(elements));
}

/// Time in which L2 serves the requests of one k step where rows of the operands begin within one
/// of its sectors. A cluster requests B once.
double misaligned_step(const GpuProfile& gpu, const GemmKernel& kernel, double active) {
  constexpr std::int64_t kSectorBytes = 32;
  const std::int64_t bytes = operand_bytes(kernel.order.elements);
  if (gpu.misaligned_load == 0 || kernel.k * bytes % kSectorBytes == 0) return 0;
  const Tile& tile = kernel.tile;
  const double rows = tile.block_m + static_cast<double>(tile.block_n) / tile.cluster;
  return rows * static_cast<double>(tile.block_k * bytes) * active / gpu.misaligned_load;
}

/// Multiply-adds of these operands that take the time of one of 16 bits: the rates are those of the
/// data sheets of Hopper (1,979 and 990 TFLOPS). Exact sums take no longer here (on 2 H200,
/// generated kernels take 1.3 to 1.5 times as long as with fast ones).
double multiplied_at_once(Elements elements) {
  return 2.0 / static_cast<double>(operand_bytes(elements));
}

/// ... and those that take its energy: of 1.6, 1.8 and 2, the one with the least mean error over
/// the 95 8-bit configs of docs/results/2026-11-29-h200-nvlink-x2 (tests/accuracy/beside_gpus.cpp).
double multiplied_by_its_energy(Elements elements) {
  return operand_bytes(elements) == 1 ? 1.8 : 1;
}

double tensor_rate(const GpuProfile& gpu, const GemmKernel& kernel) {
  const double m = kernel.tile.block_m / (kernel.tile.block_m + gpu.tensor_half_m);
  const double n = kernel.tile.block_n / (kernel.tile.block_n + gpu.tensor_half_n);
  return gpu.tensor_flops * multiplied_at_once(kernel.order.elements) / gpu.sms * m * n;
}

}  // namespace

int ctas_of_tile(const Profile& profile, const GemmKernel& kernel) {
  if (kernel.library || !kernel.shares_tiles) return 1;
  return ctas_per_tile(kernel.order, kernel.tile, kernel.k, kernel.sms,
                       gpu_limits(profile.gpu.compute_capability));
}

TileTimes tile_times(const Profile& profile, const GemmKernel& kernel) {
  const GpuProfile& gpu = profile.gpu;
  const Tile& tile = kernel.tile;
  const TileOrder& order = kernel.order;
  const auto tiles = static_cast<double>(order.tiles());
  const auto stored_bytes = static_cast<double>(result_bytes(order.elements));
  // The CTAs that share a tile load and multiply at the same time.
  const int ctas = ctas_of_tile(profile, kernel);
  const double active = std::min<double>(kernel.sms, tiles * ctas);
  const auto steps = std::ceil(static_cast<double>(kernel.k) / tile.block_k / ctas);

  const double loaded = step_bytes(tile, order.elements);
  const double traffic = operand_traffic(kernel, active / ctas, gpu.l2_bytes);
  const double missed = traffic / (tiles * ctas * steps);
  const double step_flops = 2.0 * tile.block_m * tile.block_n * tile.block_k;
  const double step = smooth_maximum({
      step_flops / tensor_rate(gpu, kernel),
      loaded / gpu.sm_load,
      loaded * active / gpu.l2_load,
      misaligned_step(gpu, kernel, active),
      missed * active / gpu.memory_load,
      gpu.load_latency / (tile.stages - 1),
  });

  // Stores go through L2. The part that exceeds it must reach memory while the kernel runs. Much of
  // the rest is written after the kernel, hence the factor.
  const double c = static_cast<double>(order.block_rows) * order.blocks *
                   static_cast<double>(order.n) * stored_bytes;
  const double written_through = 1 - resident_share(c, 2 * gpu.l2_bytes);
  const double hidden = kernel.library ? profile.library.hidden_store : gpu.hidden_store;
  const bool even = kernel.library || tile.block_n % kEvenColumns == 0;
  const double store_rate = even ? gpu.sm_store : gpu.uneven_store;
  const double store_per_byte =
      (1 / store_rate + written_through * active / gpu.memory_store) * (1 - hidden);

  const auto rest = [](std::int64_t size, std::int64_t block) {
    return static_cast<double>((size - 1) % block + 1);
  };
  const double right = rest(order.n, tile.block_n);
  const double bottom = rest(order.block_rows, tile.block_m);
  const LibraryProfile& library = profile.library;
  const double efficiency = library.efficiency * (kernel.sms < gpu.sms ? library.partial : 1);
  const double fixed =
      (steps * step + gpu.tile_overhead * ctas) / (kernel.library ? efficiency : 1) +
      (kernel.persistent ? 0 : gpu.kernel_start);
  const auto time = [&](double rows, double columns) {
    return fixed + rows * columns * stored_bytes * store_per_byte;
  };

  TileTimes times{.whole = time(tile.block_m, tile.block_n),
                  .right = time(tile.block_m, right),
                  .bottom = time(bottom, tile.block_n),
                  .corner = time(bottom, right),
                  .kernel_start = kernel.library ? library.kernel_start : gpu.kernel_start};
  const double tile_bytes = tile.block_m * tile.block_n * stored_bytes;
  times.memory_load = active / times.whole *
                      (loaded * steps / gpu.l2_load + missed * steps / gpu.memory_load +
                       tile_bytes * written_through / gpu.memory_store);
  times.flops = 2.0 * static_cast<double>(order.block_rows) * order.blocks *
                static_cast<double>(order.n) * static_cast<double>(kernel.k) /
                multiplied_by_its_energy(order.elements);
  times.loaded_bytes = loaded * steps * ctas * tiles;
  times.memory_bytes = traffic + c;
  times.loaded_at_once = loaded * steps * active;
  times.stored_at_once = tile_bytes * active / ctas;
  return times;
}

}  // namespace overlaptune::sim
