// Measures the gain when two CTAs share a tile (`ctas_per_tile`): GEMMs with so few tiles that half
// of the SMs would be idle run with one CTA for each tile and with two, in turn. Needs a Hopper
// GPU.

#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr int kSets = 4;  // sets of operands, used in turn

struct Memory {
  DeviceMemory a;
  DeviceMemory b;
  DeviceMemory c;
};

void compare(GeneratedGemms& gemms, const Tile& tile, std::int64_t m, std::int64_t n,
             std::int64_t k, int sms) {
  const TileOrder order{m, n, 1, tile.block_m, tile.block_n, 8};
  if (ctas_per_tile(order, tile, k, sms, gpu_limits(90)) != 2) return;
  const Stream stream = make_stream();
  const GeneratedGemm& gemm =
      *value_or_throw(gemms.gemm({.tile = tile, .elements = Elements::bf16}));
  std::vector<Memory> memory;
  std::vector<GeneratedLaunch> one;
  std::vector<GeneratedLaunch> two;
  for (unsigned set = 0; set < kSets; ++set) {
    memory.push_back({.a = device_memory(bytes_of_elements(m * k)),
                      .b = device_memory(bytes_of_elements(n * k)),
                      .c = device_memory(bytes_of_elements(m * n))});
    const Memory& each = memory.back();
    OVT_CHECK(kernels::fill_normal(stream.get(), each.a.get(), Dtype::bf16, m * k, 2 * set));
    OVT_CHECK(kernels::fill_normal(stream.get(), each.b.get(), Dtype::bf16, n * k, 2 * set + 1));
    const GeneratedSegment whole{.region = {.end = order.tiles(), .rows = m, .columns = n},
                                 .c = each.c.get(),
                                 .row_stride = n,
                                 .block_stride = m * n};
    const GeneratedOperands operands{
        .a = each.a.get(), .b = each.b.get(), .k = k, .segments = {whole}};
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

void measure(const cudaDeviceProp& properties) {
  if (properties.major != 9) {
    fmt::print("no Hopper GPU\n");
    return;
  }
  fmt::print("{}, bf16\n\n", properties.name);
  fmt::print("| M | N | K | tile | tiles | one CTA us | two us | ratio |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  GeneratedGemms gemms;
  const int sms = properties.multiProcessorCount;
  for (const std::int64_t k : {1024, 1536, 2048, 3584, 8192, 16384}) {
    for (const Tile& tile : {Tile{128, 256, 64, 4, 1}, Tile{128, 160, 64, 5, 1},
                             Tile{64, 256, 64, 4, 1}, Tile{64, 128, 64, 6, 1}}) {
      compare(gemms, tile, 128, 8192, k, sms);
      compare(gemms, tile, 1024, 1280, k, sms);
    }
  }
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("split_k_bench", overlaptune::run::measure);
}
