#pragma once
// The GEMM tiles that a GPU allows: one table, keyed by compute capability.

#include <cstdint>
#include <vector>

#include "core/base/units.hpp"
#include "core/config/tile.hpp"
#include "core/elements.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// Limits of one compute capability. Sources: CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability" (shared memory per block, registers per SM); PTX ISA, "wgmma.mma_async"
/// (M = 64, N a multiple of 8 up to 256) and "mma.sync" m16n8k16.
struct GpuLimits {
  int compute_capability = 0;   ///< 10 * major + minor
  int shared_memory_bytes = 0;  ///< largest dynamic shared memory of one block
  int largest_down = 0;         ///< of a tile; a multiple of `Tile::kInstructionRows`
  int largest_across = 0;
  bool swap_ab = false;
  bool e4m3 = false;           ///< the generated GEMM multiplies operands of 8 bits
  bool queue = false;          ///< the generated GEMM can take its work from a queue
  int largest_block_area = 0;  ///< block_m * block_n: fp32 accumulators that fit the registers
  int fewest_stages = 0;
  int most_stages = 0;
  int largest_cluster = 0;  ///< CTAs that can share operand loads, or a tile
  int unshared_down = 0;    ///< two CTAs cannot share a tile that is so far down; 0: no such tile
  /// Largest block_m * block_n of `peer_store`, and of operands with scales: their kernels need
  /// registers for more than sums.
  int largest_store_area = 0;
  int largest_scaled_across = 0;  ///< of a tile with scales that is `unshared_down` or more
  /// Most registers of a thread of one of two consumers, and of one of three, for sums and for
  /// those of a step, where these are added up exactly.
  int most_exact_of_two = 0;
  int most_exact_of_three = 0;
  int default_depths = 0;  ///< most stage counts of one tile shape in `default_tiles`

  /// For a smaller k two CTAs gain nothing by sharing a tile: adding up the two halves costs more
  /// (tests/bench/split_k_bench, one H200; assumed for other GPUs).
  std::int64_t least_shared_k = 1024;
};

/// The limits for a compute capability, or those of the nearest lower one in the table (80, 86, 89,
/// 90, 100, 120).
[[nodiscard]] const GpuLimits& gpu_limits(int compute_capability);

/// block_k of every tile: the elements of one row of 128 bytes, the width of the shared memory
/// swizzle.
[[nodiscard]] constexpr int block_k_of(Elements elements) {
  return static_cast<int>(128 / operand_bytes(elements));
}

/// Bytes of shared memory that the load pipeline and the staged output block take. (A generated
/// GEMM on Hopper may have smaller blocks: core/config/staging.hpp.)
[[nodiscard]] std::int64_t shared_memory_bytes(const Tile& tile, Elements elements);

/// Every tile that the limits allow, in ascending order.
[[nodiscard]] std::vector<Tile> feasible_tiles(const GpuLimits& limits, Elements elements);

/// The feasible tiles that may be the fastest for a problem. A tile that is less than 64 columns
/// wide, or rows high, never was on GPUs, where C has as many: there it loads far more than it
/// multiplies. A tile with swap-AB is worth its place in a search only where its panels have fewer
/// rows beyond the row block than panels of 64 rows have.
[[nodiscard]] std::vector<Tile> promising_tiles(const GpuLimits& limits, const Problem& problem);

/// The tiles that generated GEMMs are compiled for ahead of time: without clusters, every shape of
/// `feasible_tiles` without swap-AB (few problems need those), with the deepest pipelines
/// that fit it, `default_depths` of them (on compute capability 90 all of them; below it only the
/// deepest, because a shallower pipeline hides less).
[[nodiscard]] std::vector<Tile> default_tiles(const GpuLimits& limits, Elements elements);

[[nodiscard]] bool is_feasible(const Tile& tile, const GpuLimits& limits, Elements elements);

/// Whether `peer_store` has a kernel for a feasible tile.
[[nodiscard]] bool has_store_kernel(const Tile& tile, const GpuLimits& limits);

}  // namespace overlaptune
