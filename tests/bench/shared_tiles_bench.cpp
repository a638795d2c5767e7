// What it brings that two CTAs share a tile (`ctas_per_tile`): GEMMs of so few tiles that half of
// the SMs would be idle, by one CTA a tile and by two, in turn. Needs a Hopper GPU.

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "kernels/support.hpp"
#include "run/own_gemm.hpp"

namespace overlaptune::run {
namespace {

constexpr int kRounds = 15;
constexpr int kLaunches = 8;  // between two events
constexpr int kSets = 4;      // of operands, in turn

struct Memory {
  DeviceMemory a;
  DeviceMemory b;
  DeviceMemory c;
};

/// Microseconds of one launch.
double time_of(cudaStream_t stream, const OwnGemm& gemm, const std::vector<OwnLaunch>& launches) {
  const Event from = make_event(true);
  const Event to = make_event(true);
  kernels::spin(stream, 60'000);  // the host is ahead
  OVT_CHECK(cudaEventRecord(from.get(), stream));
  for (std::size_t i = 0; i < kLaunches; ++i) gemm.enqueue(stream, launches[i % launches.size()]);
  OVT_CHECK(cudaEventRecord(to.get(), stream));
  OVT_CHECK(cudaStreamSynchronize(stream));
  float ms = 0;
  OVT_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return 1e3 * static_cast<double>(ms) / kLaunches;
}

void compare(OwnLibrary& library, const Tile& tile, std::int64_t m, std::int64_t n, std::int64_t k,
             int sms) {
  const TileOrder order{m, n, 1, tile.block_m, tile.block_n, 8};
  if (ctas_per_tile(order, tile, k, sms, gpu_limits(90)) != 2) return;
  const Stream stream = make_stream();
  const OwnGemm& gemm = *value_or_throw(library.gemm({.tile = tile, .dtype = Dtype::bf16}));
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(2 * elements); };
  std::vector<Memory> memory;
  std::vector<OwnLaunch> one;
  std::vector<OwnLaunch> two;
  for (unsigned set = 0; set < kSets; ++set) {
    memory.push_back({.a = device_memory(bytes(m * k)),
                      .b = device_memory(bytes(n * k)),
                      .c = device_memory(bytes(m * n))});
    const Memory& each = memory.back();
    kernels::fill_normal(stream.get(), each.a.get(), Dtype::bf16, m * k, 2 * set);
    kernels::fill_normal(stream.get(), each.b.get(), Dtype::bf16, n * k, 2 * set + 1);
    const OwnSegment whole{.region = {.end = order.tiles(), .rows = m, .columns = n},
                           .c = each.c.get(),
                           .row_stride = n,
                           .block_stride = m * n};
    const OwnOperands operands{.a = each.a.get(), .b = each.b.get(), .k = k, .segments = {whole}};
    const int too_few = static_cast<int>(2 * order.tiles() - 1);
    one.push_back(gemm.prepare(order, {.sms = too_few}, operands, nullptr));
    two.push_back(gemm.prepare(order, {.sms = sms}, operands, nullptr));
  }
  std::vector<double> alone;
  std::vector<double> shared;
  for (int round = 0; round < kRounds; ++round) {
    alone.push_back(time_of(stream.get(), gemm, one));
    shared.push_back(time_of(stream.get(), gemm, two));
  }
  const double before = quantile(alone, 0.5);
  const double after = quantile(shared, 0.5);
  fmt::print("| {:>5} | {:>5} | {:>5} | {:>7} | {:>3} | {:>7.1f} | {:>7.1f} | {:.2f} |\n", m, n, k,
             fmt::format("{}x{}", tile.block_m, tile.block_n), order.tiles(), before, after,
             before / after);
}

int measure() {
  int count = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
    OVT_CHECK(cudaGetDeviceProperties(&properties, 0));
  }
  if (properties.major != 9) {
    fmt::print("no Hopper GPU\n");
    return 0;
  }
  fmt::print("{}, bf16\n\n", properties.name);
  fmt::print("| M | N | K | tile | tiles | one CTA us | two us | ratio |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  OwnLibrary library;
  const int sms = properties.multiProcessorCount;
  for (const std::int64_t k : {512, 1024, 1536, 2048, 3584, 8192, 16384}) {
    for (const Tile& tile : {Tile{128, 256, 64, 4, 1}, Tile{128, 160, 64, 5, 1},
                             Tile{64, 256, 64, 4, 1}, Tile{64, 128, 64, 6, 1}}) {
      compare(library, tile, 128, 8192, k, sms);
      compare(library, tile, 1024, 1280, k, sms);
    }
  }
  return 0;
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  try {
    return overlaptune::run::measure();
  } catch (const std::exception& error) {
    fmt::print(stderr, "shared_tiles_bench: {}\n", error.what());
    return 1;
  }
}
