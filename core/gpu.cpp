#include "core/gpu.hpp"

#include <array>

namespace overlaptune {
namespace {

/// Without wgmma the accumulators of a block live in 8 warps of at most 255 registers: 128 x 256.
constexpr GpuLimits without_wgmma(int compute_capability, int shared_bytes, int fewest_stages,
                                  int most_stages) {
  return {.compute_capability = compute_capability,
          .shared_memory_bytes = shared_bytes,
          .block_m_multiple = 64,
          .largest_block_m = 256,
          .largest_block_n = 256,
          .largest_block_area = 128 * 256,
          .block_k = 64,
          .fewest_stages = fewest_stages,
          .most_stages = most_stages,
          .largest_cluster = 1,
          .default_depths = 1};
}

constexpr std::array<GpuLimits, 4> kLimits{{
    without_wgmma(80, 163 * 1024, 3, 5),
    without_wgmma(86, 99 * 1024, 2, 4),  // for graphics and inference
    without_wgmma(89, 99 * 1024, 2, 4),
    {.compute_capability = 90,
     .shared_memory_bytes = 227 * 1024,
     .block_m_multiple = 64,
     .largest_block_m = 256,
     .largest_block_n = 256,
     .largest_block_area = 49152,
     .block_k = 64,
     .fewest_stages = 3,
     .most_stages = 7,
     .largest_cluster = 2,
     .default_depths = 5},
}};

constexpr int kBlockNMultiple = 16;
constexpr int kBarrierBytes = 1536;  // mbarriers of the pipeline and alignment of the first stage

}  // namespace

const GpuLimits& gpu_limits(int compute_capability) {
  const GpuLimits* best = &kLimits.front();
  for (const GpuLimits& limits : kLimits) {
    if (limits.compute_capability <= compute_capability) best = &limits;
  }
  return *best;
}

std::int64_t shared_memory_bytes(const Tile& tile) {
  const std::int64_t stage = 2LL * (tile.block_m + tile.block_n) * tile.block_k;
  // The output is staged 64 columns at a time, so that its store overlaps the next block.
  const std::int64_t output = 2LL * tile.block_m * std::min(tile.block_n, 64);
  return tile.stages * stage + output + kBarrierBytes;
}

bool is_feasible(const Tile& tile, const GpuLimits& limits) {
  return tile.block_m >= limits.block_m_multiple && tile.block_m <= limits.largest_block_m &&
         tile.block_m % limits.block_m_multiple == 0 && tile.block_n >= kBlockNMultiple &&
         tile.block_n <= limits.largest_block_n && tile.block_n % kBlockNMultiple == 0 &&
         tile.block_m * tile.block_n <= limits.largest_block_area &&
         tile.block_k == limits.block_k && tile.stages >= limits.fewest_stages &&
         tile.stages <= limits.most_stages && tile.cluster >= 1 &&
         tile.cluster <= limits.largest_cluster &&
         shared_memory_bytes(tile) <= limits.shared_memory_bytes;
}

std::vector<Tile> feasible_tiles(const GpuLimits& limits) {
  std::vector<Tile> tiles;
  for (int m = limits.block_m_multiple; m <= limits.largest_block_m; m += limits.block_m_multiple) {
    for (int n = kBlockNMultiple; n <= limits.largest_block_n; n += kBlockNMultiple) {
      for (int stages = limits.fewest_stages; stages <= limits.most_stages; ++stages) {
        for (int cluster = 1; cluster <= limits.largest_cluster; ++cluster) {
          const Tile tile{m, n, limits.block_k, stages, cluster};
          if (is_feasible(tile, limits)) tiles.push_back(tile);
        }
      }
    }
  }
  return tiles;
}

std::vector<Tile> default_tiles(const GpuLimits& limits) {
  std::vector<Tile> tiles = feasible_tiles(limits);
  std::erase_if(tiles, [&](const Tile& tile) {
    Tile deeper = tile;
    deeper.stages += limits.default_depths;
    return tile.cluster != 1 || is_feasible(deeper, limits);
  });
  return tiles;
}

}  // namespace overlaptune
