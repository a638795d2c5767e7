// Compares the generated GEMM with cuBLASLt's for shapes that tiles do not fit: K no multiple of a
// step or of a cache line, N of a few columns, any M. All tiles run, then the fastest of them and
// the library's GEMM in turn. Needs a GPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "run/gemm/gemm.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr std::size_t kFinalists = 6;

struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  [[nodiscard]] bool aligned() const { return k % 64 == 0; }
};

/// Two of six K are multiples of a step, for comparison.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto& [m, n] : {std::pair{1000, 8192},
                             {4090, 8192},
                             {4096, 1288},
                             {8192, 8200},
                             {333, 5128},
                             {16384, 4104},
                             {2056, 2504}}) {
    for (const int k : {1024, 1032, 3000, 3584, 3592, 8200}) all.push_back({m, n, k});
  }
  return all;
}

/// The tiles that a search looks at, but only the deepest pipelines.
std::vector<Tile> tiles_for(const Shape& shape) {
  constexpr int kDepths = 2;
  const GpuLimits& limits = gpu_limits(90);
  const Problem problem{.op = Op::gemm_all_reduce,
                        .m = shape.m,
                        .n = shape.n,
                        .k = shape.k,
                        .elements = Elements::bf16,
                        .ranks = 2};
  std::vector<Tile> all = promising_tiles(limits, problem);
  std::erase_if(all, [&](Tile tile) {
    tile.stages += kDepths;
    return is_feasible(tile, limits, Elements::bf16);
  });
  return all;
}

class Comparison {
 public:
  explicit Comparison(int sms) : sms_(sms) {
    std::set<TiledKernel> kernels;
    for (const Shape& shape : shapes()) {
      for (const Tile& tile : tiles_for(shape)) kernels.insert({.tile = tile});
    }
    gemms_.compile(std::vector(kernels.begin(), kernels.end()), 0, 1);
  }

  /// Prints a row. Returns the time of the fastest tile over that of the library.
  double ratio(const Shape& shape) {
    const auto [m, n, k] = shape;
    const DeviceMemory a = device_memory(bytes_of_elements(m * k));
    const DeviceMemory b = device_memory(bytes_of_elements(n * k));
    const DeviceMemory c = device_memory(bytes_of_elements(m * n));
    const cudaStream_t stream = world_.stream();
    OVT_CHECK(kernels::fill_normal(stream, a.get(), Dtype::bf16, m * k, 1));
    OVT_CHECK(kernels::fill_normal(stream, b.get(), Dtype::bf16, n * k, 2));
    std::vector<Entry> entries;
    for (const Tile& tile : tiles_for(shape)) {
      entries.push_back(entry(tile, shape, {.a = a.get(), .b = b.get(), .k = k}, c.get()));
    }
    run(entries, 2);
    const auto faster = [](const Entry& x, const Entry& y) { return x.median() < y.median(); };
    std::sort(entries.begin(), entries.end(), faster);
    entries.resize(std::min(entries.size(), kFinalists));
    for (Entry& each : entries) each.times.clear();

    const GemmOperands operands{a.get(), b.get(), c.get()};
    const GemmShape library_shape{.m = m, .n = n, .k = k};
    const GemmChoice choice =
        value_or_throw(library_.choose(library_shape, std::span(&operands, 1)));
    std::vector<double> library;
    for (int round = 0; round < kRounds; ++round) {
      library.push_back(time_of(
          stream, [&](std::size_t) { library_.enqueue(stream, library_shape, choice, operands); }));
      run(entries, 1);
    }
    const Entry& best = *std::min_element(entries.begin(), entries.end(), faster);
    const double theirs = quantile(library, 0.5);
    fmt::print("| {:>5} | {:>5} | {:>5} | {:>7.1f} | {:>7.1f} | {:>9}{} | {:.3f} |\n", m, n, k,
               theirs, best.median(), to_string(best.tile),
               best.tile.cluster > 1 ? ", cluster" : "", best.median() / theirs);
    std::fflush(stdout);
    return best.median() / theirs;
  }

 private:
  struct Entry {
    Tile tile{};
    const GeneratedGemm* gemm = nullptr;
    GeneratedLaunch launch{};
    std::vector<double> times{};
    [[nodiscard]] double median() const { return quantile(times, 0.5); }
  };

  Entry entry(const Tile& tile, const Shape& shape, GeneratedOperands operands, void* c) {
    const TileOrder order{shape.m, shape.n, 1, tile.block_m, tile.block_n, 8};
    operands.segments = {{.region = {.end = order.tiles(), .rows = shape.m, .columns = shape.n},
                          .c = c,
                          .row_stride = shape.n,
                          .block_stride = shape.m * shape.n}};
    const GeneratedGemm* gemm =
        value_or_throw(gemms_.gemm({.tile = tile, .elements = Elements::bf16}));
    return {tile, gemm, gemm->prepare(order, {.sms = sms_}, operands, nullptr)};
  }

  void run(std::vector<Entry>& entries, int rounds) {
    const cudaStream_t stream = world_.stream();
    for (int round = 0; round < rounds; ++round) {
      for (Entry& each : entries) {
        each.times.push_back(
            time_of(stream, [&](std::size_t) { each.gemm->enqueue(stream, each.launch); }));
      }
    }
  }

  static ncclUniqueId make_id() {
    ncclUniqueId id{};
    OVT_CHECK(ncclGetUniqueId(&id));
    return id;
  }

  int sms_;
  World world_{make_id(), 0, 1, {}};
  GemmLibrary library_{world_};
  GeneratedGemms gemms_{};
};

void measure(const cudaDeviceProp& properties) {
  fmt::print("{}, bf16\n\n| M | N | K | cuBLASLt us | generated us | tile | ratio |\n",
             properties.name);
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|\n");
  Comparison comparison(properties.multiProcessorCount);
  double sum = 0;
  double most = 0;
  int count = 0;
  for (const Shape& shape : shapes()) {
    const double ratio = comparison.ratio(shape);
    if (shape.aligned()) continue;
    sum += std::log(ratio);
    most = std::max(most, ratio);
    ++count;
  }
  fmt::print("\n{} shapes with K no multiple of 64: geometric mean {:.3f}, most {:.3f}\n", count,
             std::exp(sum / count), most);
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("shapes_bench", overlaptune::run::measure);
}
