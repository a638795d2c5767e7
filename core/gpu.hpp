#pragma once
// What the hardware allows a GEMM tile to be: one table, keyed by compute capability.

#include <cstdint>
#include <vector>

#include "core/config.hpp"

namespace overlaptune {

/// Limits of one compute capability. Sources: CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability" (shared memory per block, registers per SM); PTX ISA, "wgmma.mma_async"
/// (M = 64, N a multiple of 8 up to 256) and "mma.sync" m16n8k16.
struct GpuLimits {
  int compute_capability = 0;   ///< 10 * major + minor
  int shared_memory_bytes = 0;  ///< largest dynamic shared memory of one block
  int block_m_multiple = 0;     ///< M of the instruction times warps (or warpgroups) stacked on it
  int largest_block_m = 0;
  int largest_block_n = 0;
  int largest_block_area = 0;  ///< block_m * block_n: fp32 accumulators that fit the registers
  int block_k = 0;             ///< one 128-byte swizzle row of 2-byte elements
  int fewest_stages = 0;
  int most_stages = 0;
  int largest_cluster = 0;  ///< CTAs that can share operand loads, or a tile
  int default_depths = 0;   ///< stage counts of one shape in `default_tiles`
};

/// The limits for a compute capability, or those of the nearest lower one in the table (80, 86, 89,
/// 90).
[[nodiscard]] const GpuLimits& gpu_limits(int compute_capability);

/// Shared memory of the load pipeline and of the staged output block.
[[nodiscard]] std::int64_t shared_memory_bytes(const Tile& tile);

/// Every tile that the limits allow: block_m, block_n (a multiple of 16), stages, cluster.
[[nodiscard]] std::vector<Tile> feasible_tiles(const GpuLimits& limits);

/// The tiles that our own GEMMs are compiled for ahead of time: without clusters, every shape of
/// `feasible_tiles`, with the deepest pipelines that fit it, `default_depths` of them (on compute
/// capability 90 all; below it the deepest, since a shallower one only hides less).
[[nodiscard]] std::vector<Tile> default_tiles(const GpuLimits& limits);

[[nodiscard]] bool is_feasible(const Tile& tile, const GpuLimits& limits);

}  // namespace overlaptune
