// Measures clock and power of GEMMs that run for a second and more: what a multiply-add costs by
// tile, depth and number of SMs, once the clock has settled. Needs a Hopper GPU.

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "run/gemm/gemm.hpp"
#include "run/host/inventory.hpp"
#include "run/host/nvml.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr std::int64_t kSize = 8192;  // rows and columns of C
/// NVML reports the mean power of about a second.
constexpr std::chrono::milliseconds kDuration{1500};

struct Settled {
  double us = 0;         ///< of one launch, at the end
  double clock_mhz = 0;  ///< the mean while it was timed
  double power_w = 0;
};

/// Runs `enqueue(i)` until the clock has settled.
template <class Enqueue>
Settled settled(const Nvml& nvml, cudaStream_t stream, const Enqueue& enqueue) {
  const DeviceMemory stamps = device_memory(2 * sizeof(kernels::ClockStamp));
  auto* stamp = static_cast<kernels::ClockStamp*>(stamps.get());
  const auto end = std::chrono::steady_clock::now() + kDuration;
  Settled last;
  while (std::chrono::steady_clock::now() < end) {
    OVT_CHECK(kernels::stamp_clock(stream, stamp));
    last.us = time_of(stream, enqueue);
    OVT_CHECK(kernels::stamp_clock(stream, stamp + 1));
    OVT_CHECK(cudaStreamSynchronize(stream));
    kernels::ClockStamp seen[2];
    OVT_CHECK(cudaMemcpy(seen, stamp, sizeof seen, cudaMemcpyDeviceToHost));
    if (seen[0].sm == seen[1].sm) {
      last.clock_mhz = 1e3 * static_cast<double>(seen[1].cycles - seen[0].cycles) /
                       static_cast<double>(seen[1].nanoseconds - seen[0].nanoseconds);
    }
  }
  last.power_w = nvml.conditions().power_w.value_or(0);
  return last;
}

class Bench {
 public:
  Bench(const std::string& pci_bus, int sms) : nvml_(pci_bus), sms_(sms) {}

  void library(std::int64_t k) {
    const Memory memory(world_.stream(), k);
    const GemmOperands operands{memory.a.get(), memory.b.get(), memory.c.get()};
    const GemmShape shape{.m = kSize, .n = kSize, .k = k};
    const GemmChoice choice = value_or_throw(library_.choose(shape, std::span(&operands, 1)));
    print("cuBLASLt", k, sms_, settled(nvml_, world_.stream(), [&](std::size_t) {
            library_.enqueue(world_.stream(), shape, choice, operands);
          }));
  }

  void generated(const Tile& tile, std::int64_t k, int sms) {
    const Memory memory(world_.stream(), k);
    const TileOrder order{kSize, kSize, 1, tile.block_m, tile.block_n, 8};
    const GeneratedSegment whole{.region = {.end = order.tiles(), .rows = kSize, .columns = kSize},
                                 .c = memory.c.get(),
                                 .row_stride = kSize,
                                 .block_stride = kSize * kSize};
    const GeneratedGemm& gemm =
        *value_or_throw(gemms_.gemm({.tile = tile, .elements = Elements::bf16}));
    const GeneratedLaunch launch = gemm.prepare(
        order, {.sms = sms},
        {.a = memory.a.get(), .b = memory.b.get(), .k = k, .segments = {whole}}, nullptr);
    print(to_string(tile) + (tile.cluster > 1 ? ", cluster" : ""), k, sms,
          settled(nvml_, world_.stream(),
                  [&](std::size_t) { gemm.enqueue(world_.stream(), launch); }));
  }

 private:
  struct Memory {
    Memory(cudaStream_t stream, std::int64_t k)
        : a(device_memory(bytes_of_elements(kSize * k))),
          b(device_memory(bytes_of_elements(kSize * k))),
          c(device_memory(bytes_of_elements(kSize * kSize))) {
      OVT_CHECK(kernels::fill_normal(stream, a.get(), Dtype::bf16, kSize * k, 1));
      OVT_CHECK(kernels::fill_normal(stream, b.get(), Dtype::bf16, kSize * k, 2));
    }
    DeviceMemory a;
    DeviceMemory b;
    DeviceMemory c;
  };

  static void print(const std::string& name, std::int64_t k, int sms, const Settled& seen) {
    const double macs = static_cast<double>(kSize * kSize) * static_cast<double>(k);
    fmt::print("| {:<19} | {:>5} | {:>3} | {:>7.1f} | {:>4.0f} | {:>4.0f} | {:>3.0f} | {:.3f} |\n",
               name, k, sms, seen.us, 2e-6 * macs / seen.us, seen.clock_mhz, seen.power_w,
               1e6 * seen.power_w * seen.us / macs);
    std::fflush(stdout);
  }

  static ncclUniqueId make_id() {
    ncclUniqueId id{};
    OVT_CHECK(ncclGetUniqueId(&id));
    return id;
  }

  Nvml nvml_;
  int sms_;
  World world_{make_id(), 0, 1, {}};
  GemmLibrary library_{world_};
  GeneratedGemms gemms_{};
};

void measure(const cudaDeviceProp& properties) {
  if (properties.major != 9) {
    fmt::print("no Hopper GPU\n");
    return;
  }
  const int sms = properties.multiProcessorCount;
  Bench bench(pci_bus(0), sms);
  fmt::print("{}, bf16, {} x {}\n\n", properties.name, kSize, kSize);
  fmt::print("| kernel | K | SMs | us | TFLOP/s | MHz | W | pJ per multiply-add |\n");
  fmt::print("|---|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const std::int64_t k : {1024, 3584, 14336}) {
    bench.library(k);
    for (const Tile& tile :
         {Tile{128, 256, 64, 4, 1}, Tile{128, 256, 64, 4, 2}, Tile{256, 128, 64, 4, 1},
          Tile{192, 192, 64, 4, 1}, Tile{128, 192, 64, 5, 1}, Tile{128, 128, 64, 6, 1}}) {
      bench.generated(tile, k, sms);
      if (k > 1024) bench.generated(tile, k, sms - 16);
    }
  }
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("power_bench", overlaptune::run::measure);
}
