// What signals and the order of tiles that groups need cost our GEMM: the same tile, plain (no
// signal, the best raster) and in four groups that signal, in turn. Needs a GPU from Ampere on.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "kernels/support.hpp"
#include "run/own_gemm.hpp"

namespace overlaptune::run {
namespace {

constexpr int kGroups = 4;
constexpr int kRounds = 15;
constexpr int kLaunches = 8;  // between two events

struct Memory {
  DeviceMemory a;
  DeviceMemory b;
  DeviceMemory c;
  DeviceMemory counters = device_memory(kGroups * sizeof(std::uint32_t));
};

/// Groups of whole super panels, as even as these are.
OwnLaunch in_groups(const OwnGemm& gemm, const TileOrder& order, std::int64_t k, int sms,
                    const Memory& memory) {
  OwnOperands operands{.a = memory.a.get(), .b = memory.b.get(), .k = k};
  std::int64_t first_row = 0;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < order.super_panels(); ++i) {
    const auto group = static_cast<int>(i * kGroups / order.super_panels());
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

OwnLaunch plain(const OwnGemm& gemm, const TileOrder& order, std::int64_t k, int sms,
                const Memory& memory) {
  const Region all{.end = order.tiles(), .rows = order.block_rows, .columns = order.n};
  const OwnSegment segment{.region = all,
                           .c = memory.c.get(),
                           .row_stride = order.n,
                           .block_stride = order.block_rows * order.n};
  return gemm.prepare(order, {.sms = sms},
                      {.a = memory.a.get(), .b = memory.b.get(), .k = k, .segments = {segment}},
                      nullptr);
}

/// Microseconds of one launch.
double time_of(cudaStream_t stream, const OwnGemm& gemm, const OwnLaunch& launch) {
  const Event from = make_event(true);
  const Event to = make_event(true);
  kernels::spin(stream, 60'000);  // the host is ahead
  OVT_CHECK(cudaEventRecord(from.get(), stream));
  for (int i = 0; i < kLaunches; ++i) gemm.enqueue(stream, launch);
  OVT_CHECK(cudaEventRecord(to.get(), stream));
  OVT_CHECK(cudaStreamSynchronize(stream));
  float ms = 0;
  OVT_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return 1e3 * static_cast<double>(ms) / kLaunches;
}

/// Signalled over plain, the median of paired ratios.
double cost_of(OwnLibrary& library, std::int64_t m, std::int64_t k, int blocks, int sms) {
  constexpr std::int64_t kColumns = 8192;
  const bool hopper = sms >= 100;
  const Tile tile = hopper ? Tile{128, 256, 64, 4, 1} : Tile{128, 128, 64, 3, 1};
  const Stream stream = make_stream();
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(2 * elements); };
  const Memory memory{.a = device_memory(bytes(m * k)),
                      .b = device_memory(bytes(kColumns * k)),
                      .c = device_memory(bytes(m * kColumns))};
  kernels::fill_normal(stream.get(), memory.a.get(), Dtype::bf16, m * k, 1);
  kernels::fill_normal(stream.get(), memory.b.get(), Dtype::bf16, kColumns * k, 2);
  const auto kernel_for = [&](int regions) {
    return value_or_throw(library.gemm({.tile = tile, .dtype = Dtype::bf16, .regions = regions}));
  };
  const OwnGemm& one = *kernel_for(1);
  const OwnGemm& several = *kernel_for(kGroups);
  // The fastest raster of each, of those with enough super panels.
  struct Best {
    OwnLaunch launch{};
    int raster = 0;
    double time = std::numeric_limits<double>::infinity();
  };
  const auto fastest = [&](const OwnGemm& gemm, int of_blocks, int least_super_panels,
                           const auto& prepared) {
    Best best;
    for (const int raster : {1, 2, 4, 8, 16}) {
      const TileOrder order{.block_rows = m / of_blocks,
                            .n = kColumns,
                            .blocks = of_blocks,
                            .block_m = tile.block_m,
                            .block_n = tile.block_n,
                            .raster = raster};
      if (order.super_panels() < least_super_panels) break;
      OwnLaunch launch = prepared(gemm, order, k, sms, memory);
      static_cast<void>(time_of(stream.get(), gemm, launch));
      const double time = time_of(stream.get(), gemm, launch);
      if (time < best.time) best = {std::move(launch), raster, time};
    }
    return best;
  };
  const Best alone = fastest(one, 1, 1, plain);
  const Best groups = fastest(several, blocks, kGroups, in_groups);
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    const double before = time_of(stream.get(), one, alone.launch);
    ratios.push_back(time_of(stream.get(), several, groups.launch) / before);
  }
  const double ratio = quantile(ratios, 0.5);
  fmt::print("| {:>5} | {:>4} | {:>6} | {:>2} | {:>8.1f} | {:.3f} |\n", m, k, blocks, groups.raster,
             alone.time, ratio);
  return ratio;
}

int measure() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fmt::print("no GPU\n");
    return 0;
  }
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDeviceProperties(&properties, 0));
  fmt::print("{}, bf16, N = 8192\n\n", properties.name);
  fmt::print("| M | K | row blocks | raster | plain us | in 4 groups that signal, over plain |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|\n");
  OwnLibrary library;
  double logs = 0;
  int cases = 0;
  for (const std::int64_t k : {1024, 3584}) {
    for (const std::int64_t m : {4096, 8192, 16384}) {
      for (const int blocks : {1, 8}) {
        logs += std::log(cost_of(library, m, k, blocks, properties.multiProcessorCount));
        ++cases;
      }
    }
  }
  fmt::print("\ngeometric mean {:.4f}\n", std::exp(logs / cases));
  return 0;
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  try {
    return overlaptune::run::measure();
  } catch (const std::exception& error) {
    fmt::print(stderr, "signals_bench: {}\n", error.what());
    return 1;
  }
}
