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

/// Numbers that follow from the tile and the element type.
struct AmpereLayout {
  int warps_m = 0;       ///< warps that share the rows of a tile
  int warps_n = 0;       ///< warps that share its columns
  int threads = 0;       ///< threads of a block: 32 * warps_m * warps_n, 128 or 256
  int slab = 0;          ///< columns of C that a warp stores at a time: 64, 32 or 16
  int shared_bytes = 0;  ///< dynamic shared memory of a block
  int signals = 1;       ///< increase of a group's counter for each of its tiles
};

/// Error (`bad_input`): a tile that this kernel cannot have on a GPU of these limits: it is not
/// feasible (`is_feasible`), has a cluster of 2, or has more than 128 x 256 sums.
[[nodiscard]] Expected<AmpereLayout> ampere_layout(const Tile& tile, const GpuLimits& limits,
                                                   Elements elements);

/// The source for launches of up to `segments` segments. If `waits` is not 0, a launch has one
/// segment, and waits for the rows of up to `waits` wave groups. The name of the kernel is
/// `ampere_gemm`.
[[nodiscard]] Expected<KernelSource> ampere_gemm(const Tile& tile, const GpuLimits& limits,
                                                 Elements elements, int segments, int waits = 0);

// The parameters of the kernel, as kernels/device/ampere_gemm.cu declares them: an
// `AmpereOperands`; then, as one parameter, an `AmpereOrder` and right behind it as many segments
// as the kernel was made for. A launch has at most one block for each tile; a persistent launch
// also has at most one block for each SM.

/// Strides are in elements and multiples of 8; `a` and `b` are multiples of 16 bytes.
struct AmpereOperands {
  const void* a = nullptr;          ///< [block][row][k]
  const void* b = nullptr;          ///< [n][k]
  std::int64_t a_block_stride = 0;  ///< from a row block to the next; any value if there is one
  std::int32_t a_stride = 0;        ///< from row to row; at least k, less than 2^30
  std::int32_t b_stride = 0;
  std::int32_t rows = 0;  ///< rows of one row block, at least 1
  std::int32_t n = 0;     ///< a multiple of 8
  std::int32_t k = 0;     ///< multiplied elements of a row, at least 1; rows may be longer
};
static_assert(sizeof(AmpereOperands) == 48);

/// The order of the tiles, as `TileOrder` in core/tiling.hpp.
struct AmpereOrder {
  std::int32_t panels = 0;   ///< row panels of one row block
  std::int32_t blocks = 0;   ///< row blocks
  std::int32_t columns = 0;  ///< tiles across n
  std::int32_t raster = 0;   ///< at most `panels`
  std::int32_t tiles = 0;    ///< tiles to compute: the first ones
  std::int32_t k_steps = 0;  ///< k / 64, rounded up
  std::int32_t early = 0;    ///< tiles before the first blocks leave
  std::int32_t leaving = 0;  ///< blocks that leave after the early tiles
  /// Counters of the wave groups, which rise by `signals` for each stored tile; null: none.
  std::uint32_t* counters = nullptr;
};
static_assert(sizeof(AmpereOrder) == 40);

/// Consecutive tiles, up to tile `end` (exclusive), that fill one matrix of every row block. Row
/// `first_row` and column `first_column` of the block are row 0 and column 0 of `c`. Strides are in
/// elements and multiples of 8; the address `c` is a multiple of 16 bytes. The `end` of the last
/// segment is at least `tiles`.
struct AmpereSegment {
  std::int32_t end = 0;
  std::int32_t counter = 0;  ///< counter of its wave group
  std::int32_t first_row = 0;
  std::int32_t first_column = 0;
  void* c = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t block_stride = 0;
};
static_assert(sizeof(AmpereSegment) == 40);

}  // namespace overlaptune::kernels
