#include "kernels/hopper_gemm.hpp"

#include <fmt/format.h>

#include "core/gpu.hpp"
#include "kernels/rank_words.hpp"
#include "kernels/registry.hpp"

namespace overlaptune::kernels {
namespace {

/// Most columns of one wgmma where three warpgroups share the registers: ptxas finds no room for
/// the sums of more. For a wider tile, two wgmmas of half the columns follow one another.
constexpr int kMostOfThree = 192;

/// The name of a type in PTX.
std::string_view name_in_ptx(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return "bf16";
    case Dtype::fp16:
      return "f16";
  }
  return {};
}

/// The text of a function with one wgmma of m64 x n x k16. The text is made for one n, because the
/// number of operands depends on it.
std::string multiply_function(int n, Dtype operand) {
  const int sums = n / 2;
  const std::string_view type = name_in_ptx(operand);
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

/// All that comes before the function `multiply`.
std::string text_of(const HopperLaunches& launches) {
  std::string text;
  const auto add = [&](std::string_view name) { text += embedded_source(name); };
  add("instructions");
  add("tiles");
  if (launches.waits > 0 || launches.ranks > 0) add("waits");
  if (launches.waits > 0) add("rows");
  add("hopper_instructions");
  add("hopper_parts");
  add("hopper_items");
  if (launches.ranks > 0) add("peer_store");
  if (launches.waits > 0 || launches.ranks > 0) add("homes");
  add("hopper_schedule");
  add("hopper_copies");
  return text;
}

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

Expected<KernelSource> hopper_gemm(const Tile& tile, Elements elements,
                                   const HopperLaunches& launches) {
  const auto layout = hopper_layout(tile, elements);
  if (!layout) return error_of(layout);
  const bool queued = launches.waits > 0 || launches.ranks > 0;
  const int most_ranks = launches.ranks > 0 ? launches.ranks : RankWords::kMostRanks;
  return KernelSource{.name = "hopper_gemm",
                      .text = text_of(launches) +
                              multiply_function(layout->multiplied, operand_of(elements)) +
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
                                 {"QUEUED", queued ? "1" : "0"},
                                 {"MOST_RANKS", std::to_string(most_ranks)},
                                 {"HALF", result_of(elements) == Dtype::fp16 ? "1" : "0"}}};
}

}  // namespace overlaptune::kernels
