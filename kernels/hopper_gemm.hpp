#pragma once
// The source of the generated GEMM on Hopper (kernels/device/hopper_gemm.cuh) for a given tile, and
// what a launch of it needs to know. Text and numbers only: no GPU, no CUDA.

#include "core/config/config.hpp"
#include "core/config/staging.hpp"
#include "core/config/tiling.hpp"
#include "core/problem.hpp"
#include "kernels/compile/compiler.hpp"

namespace overlaptune::kernels {

/// The compute capability of Hopper.
inline constexpr int kHopper = 90;

/// Numbers that follow from the tile.
struct HopperLayout : Staging {
  int multiplied = 0;  ///< columns of one wgmma
  /// Threads of a block.
  [[nodiscard]] int threads() const { return 128 * (consumers + 1); }
};

/// Error (`bad_input`): a tile that is not feasible on Hopper, or leaves no room for the barriers.
[[nodiscard]] Expected<HopperLayout> hopper_layout(const Tile& tile, Elements elements);

/// The source of a kernel, whose name is `hopper_gemm`. Error: as `hopper_layout`.
[[nodiscard]] Expected<KernelSource> hopper_gemm(const TiledKernel& kernel);

}  // namespace overlaptune::kernels
