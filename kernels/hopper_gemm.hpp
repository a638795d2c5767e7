#pragma once
// The source of the generated GEMM on Hopper (kernels/device/hopper_gemm.cuh) for a given tile, and
// what a launch of it needs to know. Text and numbers only: no GPU, no CUDA.

#include <cstddef>

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

/// The launches that a kernel is made for: the most segments, and what it has to do with its peers.
struct LaunchRoom {
  std::size_t segments = 1;
  std::size_t waits = 0;   ///< most wave groups whose rows it waits for; 0: all rows are there
  std::size_t ranks = 0;   ///< ranks at which it stores tiles (at_ranks.cuh); 0: it stores into C
  std::size_t groups = 1;  ///< with `ranks`: most wave groups

  [[nodiscard]] static LaunchRoom of(const TiledKernel& kernel);
};

/// The source for such launches. A kernel that waits, or stores at ranks, has one segment. The name
/// of the kernel is `hopper_gemm`.
[[nodiscard]] Expected<KernelSource> hopper_gemm(const Tile& tile, Elements elements,
                                                 const LaunchRoom& launches);

}  // namespace overlaptune::kernels
