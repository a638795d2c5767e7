// Compares the generated GEMM with cuBLASLt's: bf16 for shapes that tiles do not fit (K no multiple
// of a step or of a cache line, N of a few columns, any M), or another dtype, which is its
// argument, for the shapes of layers. All tiles run, then the fastest of them and the library's
// GEMM in turn. Needs a GPU.

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
};

/// Two of six K are multiples of a step, for comparison.
std::vector<Shape> uneven_shapes() {
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

/// Products as one of 8 ranks computes them, most of them those of Llama-3-70B and 405B, and one
/// that no tile divides.
std::vector<Shape> layer_shapes() {
  std::vector<Shape> all;
  for (const int m : {1024, 4096, 16384}) {
    for (const auto& [n, k] : {std::pair{8192, 1024},
                               {8192, 3584},
                               {12288, 6144},
                               {1280, 8192},
                               {7168, 8192},
                               {16384, 2048}}) {
      all.push_back({m, n, k});
    }
  }
  all.push_back({2048, 8192, 3584});
  all.push_back({3000, 4624, 3008});
  return all;
}

/// The tiles that a search looks at, but only the deepest pipelines.
std::vector<Tile> tiles_for(const Shape& shape, Elements elements) {
  constexpr int kDepths = 2;
  const GpuLimits& limits = gpu_limits(90);
  const Problem problem{.op = Op::gemm_all_reduce,
                        .m = shape.m,
                        .n = shape.n,
                        .k = shape.k,
                        .elements = elements,
                        .ranks = 2};
  std::vector<Tile> all = promising_tiles(limits, problem);
  std::erase_if(all, [&](Tile tile) {
    tile.stages += kDepths;
    return is_feasible(tile, limits, elements);
  });
  return all;
}

class Comparison {
 public:
  Comparison(int sms, Elements elements, const std::vector<Shape>& shapes)
      : sms_(sms), elements_(elements) {
    std::set<TiledKernel> kernels;
    for (const Shape& shape : shapes) {
      for (const Tile& tile : tiles_for(shape, elements)) {
        kernels.insert({.tile = tile, .elements = elements});
      }
    }
    gemms_.compile(std::vector(kernels.begin(), kernels.end()), 0, 1);
  }

  /// Prints a row. Returns the time of the fastest tile over that of the library.
  double ratio(const Shape& shape) {
    const auto [m, n, k] = shape;
    const DeviceMemory a = operand(m * k, 1);
    const DeviceMemory b = operand(n * k, 2);
    const DeviceMemory c = device_memory(bytes_of_elements(m * n));
    const DeviceMemory scales_a = scales(m);
    const DeviceMemory scales_b = scales(n);
    const ScaleOperands scales{static_cast<const float*>(scales_a.get()),
                               static_cast<const float*>(scales_b.get())};
    const cudaStream_t stream = world_.stream();
    std::vector<Entry> entries;
    for (const Tile& tile : tiles_for(shape, elements_)) {
      entries.push_back(
          entry(tile, shape, {.a = a.get(), .b = b.get(), .k = k, .scales = scales}, c.get()));
    }
    run(entries, 2);
    const auto faster = [](const Entry& x, const Entry& y) { return x.median() < y.median(); };
    std::sort(entries.begin(), entries.end(), faster);
    entries.resize(std::min(entries.size(), kFinalists));
    for (Entry& each : entries) each.times.clear();

    const GemmOperands operands{a.get(), b.get(), c.get(), scales};
    const GemmShape library_shape{.m = m, .n = n, .k = k, .elements = elements_};
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

  [[nodiscard]] DeviceMemory operand(std::int64_t count, std::uint64_t seed) const {
    DeviceMemory memory = device_memory(bytes_of_elements(count));
    OVT_CHECK(
        kernels::fill_normal(world_.stream(), memory.get(), operand_of(elements_), count, seed));
    return memory;
  }
  /// Scales for the rows of an operand, all 1.
  [[nodiscard]] DeviceMemory scales(std::int64_t rows) const {
    const auto count = static_cast<std::size_t>(scale_count(elements_, rows));
    DeviceMemory memory = device_memory(std::max<std::size_t>(count, 1) * sizeof(float));
    const std::vector<float> ones(count, 1.0F);
    OVT_CHECK(cudaMemcpy(memory.get(), ones.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return memory;
  }

  Entry entry(const Tile& tile, const Shape& shape, GeneratedOperands operands, void* c) {
    const TileOrder order{shape.m, shape.n, 1, tile.block_m, tile.block_n, 8, elements_};
    operands.segments = {{.region = {.end = order.tiles(), .rows = shape.m, .columns = shape.n},
                          .c = c,
                          .row_stride = shape.n,
                          .block_stride = shape.m * shape.n}};
    const GeneratedGemm* gemm = value_or_throw(gemms_.gemm({.tile = tile, .elements = elements_}));
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
  Elements elements_;
  World world_{make_id(), 0, 1, {}};
  GemmLibrary library_{world_};
  GeneratedGemms gemms_{};
};

void measure(const cudaDeviceProp& properties, Elements elements) {
  fmt::print("{}, {}\n\n| M | N | K | cuBLASLt us | generated us | tile | ratio |\n",
             properties.name, to_string(elements));
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|\n");
  const bool uneven = elements == Elements::bf16;
  const std::vector<Shape> shapes = uneven ? uneven_shapes() : layer_shapes();
  Comparison comparison(properties.multiProcessorCount, elements, shapes);
  double sum = 0;
  double most = 0;
  int count = 0;
  for (const Shape& shape : shapes) {
    const double ratio = comparison.ratio(shape);
    if (uneven && shape.k % 64 == 0) continue;
    sum += std::log(ratio);
    most = std::max(most, ratio);
    ++count;
  }
  fmt::print("\n{} shapes{}: geometric mean {:.3f}, most {:.3f}\n", count,
             uneven ? " with K no multiple of 64" : "", std::exp(sum / count), most);
}

}  // namespace
}  // namespace overlaptune::run

int main(int argc, char** argv) {
  using overlaptune::Elements;
  const auto elements = overlaptune::parse_name<Elements>(argc > 1 ? argv[1] : "bf16");
  if (!elements) {
    fmt::print(stderr, "shapes_bench: {}\n", elements.error().message);
    return 2;
  }
  return overlaptune::run::measured("shapes_bench", [&](const cudaDeviceProp& properties) {
    overlaptune::run::measure(properties, *elements);
  });
}
