#include "kernels/hopper_gemm.hpp"

#include <fmt/format.h>

#include "core/gpu.hpp"
#include "kernels/compile/element_name.hpp"

namespace overlaptune::kernels {
namespace {

/// Most columns of one wgmma where three warpgroups share the registers: ptxas finds no room for
/// the sums of more. For a wider tile, two wgmmas of half the columns follow one another.
constexpr int kMostOfThree = 192;

}  // namespace

Expected<HopperLayout> hopper_layout(const Tile& tile, Elements elements) {
  const GpuLimits& limits = gpu_limits(kHopper);
  if (!is_feasible(tile, limits, elements)) {
    return bad_input(fmt::format("tile {} with {} stages does not fit a Hopper GPU",
                                 to_string(tile), tile.stages));
  }
  const HopperLayout layout{
      staging_of(tile, limits, elements),
      tile.down() == 192 && tile.across() > kMostOfThree ? tile.across() / 2 : tile.across()};
  if (!layout.fits) {
    return bad_input(
        fmt::format("tile {} with {} stages: needs {} bytes of shared memory beside its "
                    "barriers, a block has {}",
                    to_string(tile), tile.stages, layout.shared_bytes, limits.shared_memory_bytes));
  }
  return layout;
}

Expected<KernelSource> hopper_gemm(const TiledKernel& kernel) {
  const auto& [tile, elements, regions, waits, ranks, tiles_push] = kernel;
  const auto layout = hopper_layout(tile, elements);
  if (!layout) return error_of(layout);
  return KernelSource{
      .name = "hopper_gemm",
      .text =
          "#include \"kernels/device/hopper_gemm.cuh\"\n"
          "using namespace overlaptune::kernels::device;\n",
      .arguments = {
          fmt::format("HopperTile{{.block_m={},.block_n={},.multiplied={},.stages={},.cluster={},"
                      ".consumers={},.ping_pong={},.buffers={},.operand={},.result={},.exact={}}}",
                      tile.block_m, tile.block_n, layout->multiplied, tile.stages, tile.cluster,
                      layout->consumers, layout->ping_pong, layout->buffers,
                      element_name(operand_of(elements)), element_name(result_of(elements)),
                      is_exact(elements)),
          waits ? fmt::format("{}<{}>", tiles_push ? "PushedByTiles" : "Rows", regions)
                : "RowsThere",
          ranks > 0 ? fmt::format("AtRanks<{},{}>", ranks, regions)
                    : fmt::format("IntoC<{}>", waits ? 1 : regions)}};
}

}  // namespace overlaptune::kernels
