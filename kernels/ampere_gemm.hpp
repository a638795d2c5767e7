#pragma once
// The source of the generated GEMM with mma.sync (kernels/device/ampere_gemm.cu) for a given tile,
// what a launch of it needs to know, and the parameters that it takes. Text and numbers only: no
// GPU, no CUDA.

#include <cstdint>

#include "core/config.hpp"
#include "core/gpu.hpp"
#include "core/problem.hpp"
#include "kernels/compiler.hpp"

namespace overlaptune::kernels {

/// What follows from the tile and the type of the elements.
struct AmpereLayout {
  int warps_m = 0;       ///< warps that share the rows of a tile
  int warps_n = 0;       ///< warps that share its columns
  int threads = 0;       ///< of a block: 32 * warps_m * warps_n, 128 or 256
  int slab = 0;          ///< columns of C that a warp stores at a time: 64, 32 or 16
  int shared_bytes = 0;  ///< dynamic shared memory of a block
  int signals = 1;       ///< by how much a group's counter goes up with each of its tiles
};

/// Error (`bad_input`): a tile that this kernel cannot have on a GPU of these limits. Beyond
/// `is_feasible`: clusters of 2, and more than 128 x 256 sums.
[[nodiscard]] Expected<AmpereLayout> ampere_layout(const Tile& tile, const GpuLimits& limits,
                                                   Dtype dtype);

/// For launches of up to `segments` segments. The kernel is `ampere_gemm`.
[[nodiscard]] Expected<KernelSource> ampere_gemm(const Tile& tile, const GpuLimits& limits,
                                                 Dtype dtype, int segments);

// What the kernel takes, as kernels/device/ampere_gemm.cu declares it: an `AmpereOperands`, then an
// `AmpereOrder` with the segments that it was made for right behind it, as one parameter. Launched
// with at most one block an SM and at most one a tile.

/// Strides are in elements and multiples of 8; `a` and `b` are multiples of 16 bytes.
struct AmpereOperands {
  const void* a = nullptr;          ///< [block][row][k]
  const void* b = nullptr;          ///< [n][k]
  std::int64_t a_block_stride = 0;  ///< from a row block to the next; any for one block
  std::int32_t a_stride = 0;        ///< from row to row: k or more, under 2^30
  std::int32_t b_stride = 0;
  std::int32_t rows = 0;  ///< of one row block; any, 1 or more
  std::int32_t n = 0;     ///< a multiple of 8
  std::int32_t k = 0;     ///< that is multiplied, 1 or more; the rows may be longer
};
static_assert(sizeof(AmpereOperands) == 48);

/// As core/tiling.hpp's TileOrder.
struct AmpereOrder {
  std::int32_t panels = 0;   ///< of one row block
  std::int32_t blocks = 0;   ///< row blocks
  std::int32_t columns = 0;  ///< tiles across n
  std::int32_t raster = 0;   ///< at most `panels`
  std::int32_t tiles = 0;    ///< that are computed: the first ones
  std::int32_t k_steps = 0;  ///< k / 64, rounded up
  std::int32_t early = 0;    ///< tiles before the first blocks leave
  std::int32_t leaving = 0;  ///< blocks
  /// Up by `signals` with each tile that is stored; null: none.
  std::uint32_t* counters = nullptr;
};
static_assert(sizeof(AmpereOrder) == 40);

/// Tiles up to `end` that fill one matrix of every row block: row `first_row` and column
/// `first_column` of the block are row 0 and column 0 of `c`, of which rows and row blocks are so
/// many elements apart. `c` is a multiple of 16 bytes, the strides are multiples of 8. The last
/// one's `end` is at least `tiles`.
struct AmpereSegment {
  std::int32_t end = 0;
  std::int32_t counter = 0;  ///< of its wave group
  std::int32_t first_row = 0;
  std::int32_t first_column = 0;
  void* c = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t block_stride = 0;
};
static_assert(sizeof(AmpereSegment) == 40);

}  // namespace overlaptune::kernels
