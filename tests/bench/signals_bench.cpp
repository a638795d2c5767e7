// Measures the cost of signals, and of the tile order that groups need, for a generated GEMM: the
// same tile runs plain (no signal, the best swizzle) and in four groups that signal, in turn. Needs
// a GPU from Ampere on.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr int kGroups = 4;

struct Memory {
  DeviceMemory a;
  DeviceMemory b;
  DeviceMemory c;
  DeviceMemory counters = device_memory(kGroups * sizeof(std::uint32_t));
};

/// Wave groups of whole swizzle groups, as even as possible.
GeneratedLaunch in_groups(const GeneratedGemm& gemm, const TileOrder& order, std::int64_t k,
                          int sms, const Memory& memory) {
  GeneratedOperands operands{.a = memory.a.get(), .b = memory.b.get(), .k = k};
  std::int64_t first_row = 0;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < order.swizzle_groups(); ++i) {
    const auto group = static_cast<int>(i * kGroups / order.swizzle_groups());
    if (operands.segments.empty() || operands.segments.back().counter != group) {
      operands.segments.push_back(
          {.region = {.first_row = first_row, .columns = order.n},
           .counter = group,
           .c = static_cast<std::uint16_t*>(memory.c.get()) + first_row * order.n,
           .row_stride = order.n,
           .block_stride = order.block_rows * order.n});
    }
    const std::int64_t rows = order.rows(i) / order.blocks;
    end += order.column_tiles(i) * order.columns();
    first_row += rows;
    operands.segments.back().region.end = end;
    operands.segments.back().region.rows += rows;
  }
  return gemm.prepare(order, {.sms = sms}, operands,
                      static_cast<std::uint32_t*>(memory.counters.get()));
}

GeneratedLaunch plain(const GeneratedGemm& gemm, const TileOrder& order, std::int64_t k, int sms,
                      const Memory& memory) {
  const Region all{.end = order.tiles(), .rows = order.block_rows, .columns = order.n};
  const GeneratedSegment segment{.region = all,
                                 .c = memory.c.get(),
                                 .row_stride = order.n,
                                 .block_stride = order.block_rows * order.n};
  return gemm.prepare(order, {.sms = sms},
                      {.a = memory.a.get(), .b = memory.b.get(), .k = k, .segments = {segment}},
                      nullptr);
}

/// Time with signals divided by the plain time: the median of paired ratios.
double cost_of(GeneratedGemms& gemms, std::int64_t m, std::int64_t k, int blocks, int sms) {
  constexpr std::int64_t kColumns = 8192;
  const bool hopper = sms >= 100;
  const Tile tile = hopper ? Tile{128, 256, 64, 4, 1} : Tile{128, 128, 64, 3, 1};
  const Stream stream = make_stream();
  const Memory memory{.a = device_memory(bytes_of_elements(m * k)),
                      .b = device_memory(bytes_of_elements(kColumns * k)),
                      .c = device_memory(bytes_of_elements(m * kColumns))};
  OVT_CHECK(kernels::fill_normal(stream.get(), memory.a.get(), Dtype::bf16, m * k, 1));
  OVT_CHECK(kernels::fill_normal(stream.get(), memory.b.get(), Dtype::bf16, kColumns * k, 2));
  const auto kernel_for = [&](int regions) {
    return value_or_throw(
        gemms.gemm({.tile = tile, .elements = Elements::bf16, .regions = regions}));
  };
  const GeneratedGemm& one = *kernel_for(1);
  const GeneratedGemm& several = *kernel_for(kGroups);
  // The fastest swizzle of each kind, among those with enough swizzle groups.
  struct Best {
    GeneratedLaunch launch{};
    int swizzle = 0;
    double time = std::numeric_limits<double>::infinity();
  };
  const auto fastest = [&](const GeneratedGemm& gemm, int of_blocks, int least_swizzle_groups,
                           const auto& prepared) {
    Best best;
    for (const int swizzle : {1, 2, 4, 8, 16}) {
      const TileOrder order{.block_rows = m / of_blocks,
                            .n = kColumns,
                            .blocks = of_blocks,
                            .block_m = tile.block_m,
                            .block_n = tile.block_n,
                            .swizzle = swizzle};
      if (order.swizzle_groups() < least_swizzle_groups) break;
      GeneratedLaunch launch = prepared(gemm, order, k, sms, memory);
      static_cast<void>(time_of(stream.get(), gemm, {&launch, 1}));
      const double time = time_of(stream.get(), gemm, {&launch, 1});
      if (time < best.time) best = {std::move(launch), swizzle, time};
    }
    return best;
  };
  const Best alone = fastest(one, 1, 1, plain);
  const Best groups = fastest(several, blocks, kGroups, in_groups);
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    const double before = time_of(stream.get(), one, {&alone.launch, 1});
    ratios.push_back(time_of(stream.get(), several, {&groups.launch, 1}) / before);
  }
  const double ratio = quantile(ratios, 0.5);
  fmt::print("| {:>5} | {:>4} | {:>6} | {:>2} | {:>8.1f} | {:.3f} |\n", m, k, blocks,
             groups.swizzle, alone.time, ratio);
  return ratio;
}

void measure(const cudaDeviceProp& properties) {
  fmt::print("{}, bf16, N = 8192\n\n", properties.name);
  fmt::print("| M | K | row blocks | swizzle | plain us | in 4 groups that signal, over plain |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|\n");
  GeneratedGemms gemms;
  double logs = 0;
  int cases = 0;
  for (const std::int64_t k : {1024, 3584}) {
    for (const std::int64_t m : {4096, 8192, 16384}) {
      for (const int blocks : {1, 8}) {
        logs += std::log(cost_of(gemms, m, k, blocks, properties.multiProcessorCount));
        ++cases;
      }
    }
  }
  fmt::print("\ngeometric mean {:.4f}\n", std::exp(logs / cases));
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("signals_bench", overlaptune::run::measure);
}
