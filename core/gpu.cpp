#include "core/gpu.hpp"

#include <algorithm>
#include <array>

#include "core/config/staging.hpp"

namespace overlaptune {
namespace {

/// Limits of a GPU without wgmma: the accumulators of a block are in 8 warps of at most 255
/// registers a thread, which gives 128 x 256.
constexpr GpuLimits without_wgmma(int compute_capability, int shared_bytes, int fewest_stages,
                                  int most_stages) {
  return {.compute_capability = compute_capability,
          .shared_memory_bytes = shared_bytes,
          .largest_down = 256,
          .largest_across = 256,
          .largest_block_area = 128 * 256,
          .fewest_stages = fewest_stages,
          .most_stages = most_stages,
          .largest_cluster = 1,
          .default_depths = 1};
}

constexpr std::array<GpuLimits, 6> kLimits{{
    without_wgmma(80, 163 * 1024, 3, 5),
    without_wgmma(86, 99 * 1024, 2, 4),  // for graphics and inference
    without_wgmma(89, 99 * 1024, 2, 4),
    {.compute_capability = 90,
     .shared_memory_bytes = 227 * 1024,
     .largest_down = 256,
     .largest_across = 256,
     .swap_ab = true,
     .e4m3 = true,
     .queue = true,
     .largest_block_area = 49152,
     .fewest_stages = 3,
     .most_stages = 7,
     .largest_cluster = 2,
     // 192 rows of wgmmas take three warpgroups beside the one that loads; no registers
     // are left for the sums of the other CTA.
     .unshared_down = 192,
     // 256x160 compiles without spills; 192x224 does not, for four ranks and more.
     .largest_store_area = 256 * 160,
     // 192x160 and 256x160 compile without spills; 192x176 and 176x256 do not.
     .largest_scaled_across = 160,
     // 128x192 and 256x128 compile without spills; 128x208 and 256x144 do not.
     .most_exact_of_two = 192,
     // 192x128 compiles without spills; 192x144 does not.
     .most_exact_of_three = 128,
     .default_depths = 5},
    // Blackwell has no wgmma, and there is no kernel for its own instructions.
    without_wgmma(100, 227 * 1024, 3, 5),
    without_wgmma(120, 99 * 1024, 2, 4),
}};

constexpr int kAcrossMultiple = 16;
constexpr int kBarrierBytes = 1536;  // mbarriers of the pipeline and alignment of the first stage

/// Whether the kernel has registers for scales beside the sums.
bool has_room_for_scales(const Tile& tile, const GpuLimits& limits) {
  return tile.block_m * tile.block_n <= limits.largest_store_area &&
         (tile.down() < limits.unshared_down || tile.across() <= limits.largest_scaled_across);
}

/// Whether the kernel has registers for the sums of a step beside those of all steps.
bool has_room_for_steps(const Tile& tile, const GpuLimits& limits, Elements elements) {
  const Staging staging = staging_of(tile, limits, elements);
  const int of_part = tile.across() / 2;
  const int parts = tile.down() / Tile::kInstructionRows / staging.of_one_tile();
  return (parts + 1) * of_part <=
         (staging.consumers == 3 ? limits.most_exact_of_three : limits.most_exact_of_two);
}

bool fits_shared_memory(const Tile& tile, const GpuLimits& limits, Elements elements) {
  return limits.compute_capability == 90
             ? staging_of(tile, limits, elements).fits
             : shared_memory_bytes(tile, elements) <= limits.shared_memory_bytes;
}

}  // namespace

const GpuLimits& gpu_limits(int compute_capability) {
  const GpuLimits* best = &kLimits.front();
  for (const GpuLimits& limits : kLimits) {
    if (limits.compute_capability <= compute_capability) best = &limits;
  }
  return *best;
}

std::int64_t shared_memory_bytes(const Tile& tile, Elements elements) {
  constexpr std::int64_t kStagedRowBytes = 128;
  const std::int64_t stage = operand_bytes(elements) * (tile.block_m + tile.block_n) * tile.block_k;
  // The output is staged a part at a time, so that its store overlaps the next block.
  const std::int64_t row = std::min(tile.across() * result_bytes(elements), kStagedRowBytes);
  return tile.stages * stage + tile.down() * row + kBarrierBytes;
}

bool is_feasible(const Tile& tile, const GpuLimits& limits, Elements elements) {
  const auto is_one_of = [](int size, int multiple, int largest) {
    return size >= multiple && size <= largest && size % multiple == 0;
  };
  return (limits.e4m3 || operand_of(elements) != Dtype::e4m3) &&
         (limits.swap_ab || !tile.swaps_ab()) &&
         is_one_of(tile.down(), Tile::kInstructionRows, limits.largest_down) &&
         is_one_of(tile.across(), kAcrossMultiple, limits.largest_across) &&
         tile.block_m * tile.block_n <= limits.largest_block_area &&
         (!is_scaled(elements) || has_room_for_scales(tile, limits)) &&
         (!is_exact(elements) || has_room_for_steps(tile, limits, elements)) &&
         tile.block_k == block_k_of(elements) && tile.stages >= limits.fewest_stages &&
         tile.stages <= limits.most_stages && tile.cluster >= 1 &&
         tile.cluster <= limits.largest_cluster && fits_shared_memory(tile, limits, elements);
}

bool has_store_kernel(const Tile& tile, const GpuLimits& limits) {
  return tile.block_m * tile.block_n <= limits.largest_store_area;
}

std::vector<Tile> feasible_tiles(const GpuLimits& limits, Elements elements) {
  const int largest = std::max(limits.largest_down, limits.largest_across);
  std::vector<Tile> tiles;
  for (int m = kAcrossMultiple; m <= largest; m += kAcrossMultiple) {
    for (int n = kAcrossMultiple; n <= largest; n += kAcrossMultiple) {
      for (int stages = limits.fewest_stages; stages <= limits.most_stages; ++stages) {
        for (int cluster = 1; cluster <= limits.largest_cluster; ++cluster) {
          const Tile tile{m, n, block_k_of(elements), stages, cluster};
          if (is_feasible(tile, limits, elements)) tiles.push_back(tile);
        }
      }
    }
  }
  return tiles;
}

std::vector<Tile> promising_tiles(const GpuLimits& limits, const Problem& problem) {
  constexpr std::int64_t kNarrow = 64;
  const std::int64_t rows = problem.m / row_blocks(problem);
  const auto beyond = [rows](std::int64_t height) { return (height - rows % height) % height; };
  std::vector<Tile> tiles = feasible_tiles(limits, problem.elements);
  std::erase_if(tiles, [&](const Tile& tile) {
    if (tile.block_n < kNarrow && tile.block_n < problem.n) return true;
    if (!tile.swaps_ab()) return false;
    return (tile.block_m < kNarrow && tile.block_m < rows) ||
           beyond(tile.block_m) >= beyond(Tile::kInstructionRows);
  });
  return tiles;
}

std::vector<Tile> default_tiles(const GpuLimits& limits, Elements elements) {
  std::vector<Tile> tiles = feasible_tiles(limits, elements);
  std::erase_if(tiles, [&](const Tile& tile) {
    Tile deeper = tile;
    deeper.stages += limits.default_depths;
    return tile.cluster != 1 || tile.swaps_ab() || is_feasible(deeper, limits, elements);
  });
  return tiles;
}

}  // namespace overlaptune
