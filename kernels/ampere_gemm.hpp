#pragma once
// The source of the generated GEMM with mma.sync (kernels/device/ampere_gemm.cuh) for a given tile,
// and what a launch of it needs to know. Text and numbers only: no GPU, no CUDA. A launch has at
// most one block for each tile; a persistent launch also has at most one block for each SM.

#include "core/config/config.hpp"
#include "core/gpu.hpp"
#include "core/problem.hpp"
#include "kernels/compile/compiler.hpp"

namespace overlaptune::kernels {

/// Numbers that follow from the tile and the element type.
struct AmpereLayout {
  int warps_m = 0;       ///< warps that share the rows of a tile
  int warps_n = 0;       ///< warps that share its columns
  int threads = 0;       ///< threads of a block: 32 * warps_m * warps_n, 128 or 256
  int subtile = 0;       ///< columns of C that a warp stores at a time: 64, 32 or 16
  int shared_bytes = 0;  ///< dynamic shared memory of a block
  int signals = 1;       ///< increase of a group's counter for each of its tiles
};

/// Error (`bad_input`): a tile that this kernel cannot have on a GPU of these limits: it is not
/// feasible (`is_feasible`), has a cluster of 2, or has more than 128 x 256 sums.
[[nodiscard]] Expected<AmpereLayout> ampere_layout(const Tile& tile, const GpuLimits& limits,
                                                   Elements elements);

/// The source for launches of up to `segments` segments. The name of the kernel is `ampere_gemm`.
[[nodiscard]] Expected<KernelSource> ampere_gemm(const Tile& tile, const GpuLimits& limits,
                                                 Elements elements, int segments);

}  // namespace overlaptune::kernels
