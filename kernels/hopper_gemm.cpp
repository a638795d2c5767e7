#include "kernels/hopper_gemm.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/gpu.hpp"
#include "kernels/patience.hpp"
#include "kernels/registry.hpp"

namespace overlaptune::kernels {
namespace {

/// Bytes of a row of A or B in one step of k: 64 elements of 2 bytes.
constexpr int kRowBytes = 128;
/// Alignment of the ring: the bytes of one pattern of the swizzle.
constexpr int kAlignment = 1024;
/// Most columns of one wgmma where three warpgroups share the registers: ptxas finds no room for
/// the sums of more. For a wider tile, two wgmmas of half the columns follow one another.
constexpr int kMostOfThree = 192;
/// Bytes of the kernel's static variables: barriers of the stages and of the staging buffers, those
/// of the turns, and a task for each consumer; aligned.
int static_bytes(int stages, int buffers, int consumers) {
  return (8 * (2 * stages + 2 * buffers * consumers + 2) + 4 * consumers + 15) / 16 * 16;
}

/// The text of a function with one wgmma of m64 x n x k16. The text is made for one n, because the
/// number of operands depends on it.
std::string multiply_function(int n, Dtype dtype) {
  const int sums = n / 2;
  const std::string type = dtype == Dtype::bf16 ? "bf16" : "f16";
  std::string registers;
  std::string operands;
  for (int i = 0; i < sums; ++i) {
    const std::string comma = i > 0 ? ", " : "";
    registers += fmt::format("{}%{}", comma, i);
    operands += fmt::format("{}\"+f\"(sums[{}])", comma, i);
  }
  return fmt::format(R"(
__device__ __forceinline__ void multiply(float* sums, unsigned long long a, unsigned long long b,
                                         int add) {{
  asm volatile("{{\n.reg .pred p;\nsetp.ne.b32 p, %{1}, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n{2}k16.f32.{3}.{3} {{{4}}}, %{0}, %{5}, p, 1, 1, 0, 0;"
               "\n}}\n"
               : {6}
               : "l"(a), "l"(b), "r"(add));
}}
)",
                     sums, sums + 2, n, type, registers, sums + 1, operands);
}

/// Most sums of a consumer that leave it registers for the rest.
constexpr int kMostSums = 192;

/// Bytes beside ring and buffers that consumers need to take turns, as core/store_order.cpp says.
constexpr int kTurnBytes = 512;

int sums_in_turn(const Tile& tile) {
  return tile.block_m / 64 * tile.block_n / 2;
}

/// Whether two consumers take tiles in turn: one warpgroup can hold the sums of a tile, and shared
/// memory a buffer for each.
bool takes_turns(const Tile& tile, const GpuLimits& limits) {
  const int buffers = 2 * 64 * std::min(tile.block_n, 64) * 2;
  const int ring = tile.stages * (tile.block_m + tile.block_n) * kRowBytes + kAlignment;
  return sums_in_turn(tile) <= kMostSums &&
         ring + buffers + kTurnBytes <= limits.shared_memory_bytes;
}

/// Whether a block has the memory for so many buffers.
bool fits(const HopperLayout& layout, int stages, int ring, int buffers, int memory) {
  const int staged = layout.consumers * buffers * 64 * layout.slab * 2;
  return ring + staged + static_bytes(stages, buffers, layout.consumers) <= memory;
}

/// Staging buffers of a consumer that stores `slabs` slabs of each tile: as many as fit, so that it
/// is soon free for the next tile. If their number divides that of the slabs, a consumer knows the
/// buffer of each slab in advance.
template <class Fits>
int most_buffers(int slabs, const Fits& fits) {
  for (int buffers = slabs; buffers > 1; --buffers) {
    if (slabs % buffers == 0 && fits(buffers)) return buffers;
  }
  for (const int buffers : {4, 2}) {
    if (buffers < slabs && fits(buffers)) return buffers;
  }
  return 1;
}

}  // namespace

Expected<HopperLayout> hopper_layout(const Tile& tile, Dtype dtype) {
  const GpuLimits& limits = gpu_limits(kHopper);
  if (!is_feasible(tile, limits, dtype)) {
    return bad_input(fmt::format("tile {} with {} stages does not fit a Hopper GPU",
                                 to_string(tile), tile.stages));
  }
  HopperLayout layout;
  layout.in_turn = takes_turns(tile, limits);
  layout.consumers = layout.in_turn || tile.block_m == 256 ? 2 : tile.block_m / 64;
  layout.threads = 128 * (layout.consumers + 1);
  layout.multiplied =
      tile.block_m == 192 && tile.block_n > kMostOfThree ? tile.block_n / 2 : tile.block_n;
  layout.slab = tile.block_n % 64 == 0 ? 64 : tile.block_n % 32 == 0 ? 32 : 16;
  const int ring = tile.stages * (tile.block_m + tile.block_n) * kRowBytes + kAlignment;
  const int slabs = tile.block_m / 64 / layout.of_one_tile() * (tile.block_n / layout.slab);
  const auto fitting = [&](int buffers) {
    return fits(layout, tile.stages, ring, buffers, limits.shared_memory_bytes);
  };
  layout.buffers = most_buffers(slabs, fitting);
  layout.shared_bytes = ring + layout.consumers * layout.buffers * 64 * layout.slab *
                                   static_cast<int>(bytes_of(dtype));
  if (!fitting(layout.buffers)) {
    return bad_input(
        fmt::format("tile {} with {} stages: needs {} bytes of shared memory beside its "
                    "barriers, a block has {}",
                    to_string(tile), tile.stages, layout.shared_bytes, limits.shared_memory_bytes));
  }
  return layout;
}

Expected<KernelSource> hopper_gemm(const Tile& tile, Dtype dtype, const HopperLaunches& launches) {
  const auto layout = hopper_layout(tile, dtype);
  if (!layout) return error_of(layout);
  return KernelSource{.name = "hopper_gemm",
                      .text = embedded_source("tiles") + embedded_source("hopper_parts") +
                              (launches.ranks > 0 ? embedded_source("peer_store") : "") +
                              multiply_function(layout->multiplied, dtype) +
                              embedded_source("hopper_gemm"),
                      .macros = {{"BLOCK_M", std::to_string(tile.block_m)},
                                 {"BLOCK_N", std::to_string(tile.block_n)},
                                 {"MULTIPLIED", std::to_string(layout->multiplied)},
                                 {"STAGES", std::to_string(tile.stages)},
                                 {"CLUSTER", std::to_string(tile.cluster)},
                                 {"CONSUMERS", std::to_string(layout->consumers)},
                                 {"IN_TURN", layout->in_turn ? "1" : "0"},
                                 {"BUFFERS", std::to_string(layout->buffers)},
                                 {"SEGMENTS", std::to_string(launches.segments)},
                                 {"WAITS", std::to_string(launches.waits)},
                                 {"RANKS", std::to_string(launches.ranks)},
                                 {"GROUPS", std::to_string(launches.groups)},
                                 {"PATIENCE", fmt::format("{}ull", kPatience)},
                                 {"HALF", dtype == Dtype::fp16 ? "1" : "0"}}};
}

}  // namespace overlaptune::kernels
