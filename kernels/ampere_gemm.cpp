#include "kernels/ampere_gemm.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/compile/element_name.hpp"

namespace overlaptune::kernels {
namespace {

/// Most fp32 sums that fit the registers of 8 warps beside the operands.
constexpr int kMostSums = 128 * 256;
/// Most sums of a tile with 4 warps. More sums get 8 warps: two for each scheduler, so that one
/// computes while the other waits.
constexpr int kMostSumsOfFourWarps = 64 * 128;
/// Bytes of a row of A or B in one step of k: 64 elements of 2 bytes.
constexpr int kRowBytes = 128;
constexpr int kSubtileRows = 16;
constexpr int kWidestSubtile = 64;

/// Chooses how many warps share the rows and how many the columns, so that they read the fewest
/// rows of A and B from shared memory. 2 x 2 and 4 x 2 always divide a tile.
void share(const Tile& tile, AmpereLayout& layout) {
  const int warps = tile.block_m * tile.block_n > kMostSumsOfFourWarps ? 8 : 4;
  int fewest = 0;
  for (int down = warps; down >= 1; down /= 2) {
    const int across = warps / down;
    if (tile.block_m % (16 * down) != 0 || tile.block_n % (8 * across) != 0) continue;
    const int rows = across * tile.block_m + down * tile.block_n;
    if (fewest != 0 && rows >= fewest) continue;
    fewest = rows;
    layout.warps_m = down;
    layout.warps_n = across;
  }
  layout.threads = 32 * warps;
}

}  // namespace

Expected<AmpereLayout> ampere_layout(const Tile& tile, const GpuLimits& limits, Elements elements) {
  if (!is_feasible(tile, limits, elements)) {
    return bad_input(
        fmt::format("tile {} with {} stages does not fit a GPU of compute capability {}",
                    to_string(tile), tile.stages, limits.compute_capability));
  }
  if (tile.cluster > 1) return bad_input("cluster = 2: our kernel has no clusters");
  if (tile.swaps_ab() || shared_memory_bytes(tile, elements) > limits.shared_memory_bytes) {
    return bad_input(fmt::format("tile {} with {} stages: only the kernel with wgmma has it",
                                 to_string(tile), tile.stages));
  }
  if (tile.block_m * tile.block_n > kMostSums) {
    return bad_input(fmt::format("tile {}: {} sums: expected at most {}, which fit the registers",
                                 to_string(tile), tile.block_m * tile.block_n, kMostSums));
  }
  AmpereLayout layout;
  share(tile, layout);
  const int warps = layout.warps_m * layout.warps_n;
  // The subtiles take no more than `shared_memory_bytes` has for the output, so that no feasible
  // tile is refused.
  const int element = static_cast<int>(result_bytes(elements));
  const int output = element * tile.block_m * std::min(tile.block_n, 64);
  const auto bytes = [&](int subtile) { return element * warps * kSubtileRows * subtile; };
  layout.subtile = kWidestSubtile;
  while (layout.subtile > tile.block_n / layout.warps_n || bytes(layout.subtile) > output) {
    layout.subtile /= 2;
  }
  layout.shared_bytes =
      tile.stages * (tile.block_m + tile.block_n) * kRowBytes + bytes(layout.subtile);
  return layout;
}

Expected<KernelSource> ampere_gemm(const Tile& tile, const GpuLimits& limits, Elements elements,
                                   int segments) {
  const auto layout = ampere_layout(tile, limits, elements);
  if (!layout) return error_of(layout);
  return KernelSource{
      .name = "ampere_gemm",
      .text =
          "#include \"kernels/device/ampere_gemm.cuh\"\n"
          "using namespace overlaptune::kernels::device;\n",
      .arguments = {
          fmt::format("AmpereTile{{.block_m={},.block_n={},.stages={},.warps_m={},.warps_n={},"
                      ".subtile={},.element={}}}",
                      tile.block_m, tile.block_n, tile.stages, layout->warps_m, layout->warps_n,
                      layout->subtile, element_name(result_of(elements))),
          std::to_string(segments)}};
}

}  // namespace overlaptune::kernels
