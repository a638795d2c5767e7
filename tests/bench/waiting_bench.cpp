// Measures generated GEMMs that wait for rows of A. First the cost of the waits: the same tile runs
// plain and waiting for flags that are up, in turn. Then copies from the host beside the GEMM: the
// time of both together, beside that of each alone. Last what each further piece costs a copy, with
// its flag. Needs a GPU from Ampere on.

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "run/streams/stream_wait.hpp"
#include "run/waits/waits.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

using HostMemory = Handle<void*, static_cast<cudaError_t (*)(void*)>(&cudaFreeHost)>;

HostMemory host_memory(std::size_t bytes) {
  void* memory = nullptr;
  OVT_CHECK(cudaMallocHost(&memory, bytes));
  return HostMemory(memory);
}

/// A GEMM of four row blocks, of which the first is there, and the others come in `pieces` each.
class Bench {
 public:
  Bench(GeneratedGemms& gemms, const Problem& problem, const Tile& tile, int swizzle, int pieces,
        int sms)
      : problem_(problem),
        a_(device_memory(bytes_of_elements(problem.m * problem.k))),
        b_(device_memory(bytes_of_elements(problem.n * problem.k))),
        c_(device_memory(bytes_of_elements(problem.m * problem.n))),
        host_(host_memory(bytes_of_elements(problem.m * problem.k))),
        order_(arrival_order(problem, tile, swizzle)) {
    OVT_CHECK(kernels::fill_normal(stream_.get(), a_.get(), Dtype::bf16, problem.m * problem.k, 1));
    OVT_CHECK(kernels::fill_normal(stream_.get(), b_.get(), Dtype::bf16, problem.n * problem.k, 2));
    OVT_CHECK(cudaMemcpyAsync(host_.get(), a_.get(), bytes_of_elements(problem.m * problem.k),
                              cudaMemcpyDeviceToHost, stream_.get()));
    cuts_.push_back(arrival_cut(order_, 1, 0));
    const std::int64_t swizzles = order_.block.swizzle_groups();
    for (int block = 1; block < order_.blocks; ++block) {
      for (int i = 1; i <= pieces; ++i) {
        const Cut cut = arrival_cut(order_, block, i * swizzles / pieces);
        if (cut.tiles > cuts_.back().tiles) cuts_.push_back(cut);
      }
    }
    flags_ = device_memory(cuts_.size() * sizeof(std::uint32_t));
    const TileOrder tiles = tile_order(problem, tile, swizzle);
    const TileOrder together{.block_rows = problem.m,
                             .n = problem.n,
                             .block_m = tile.block_m,
                             .block_n = tile.block_n,
                             .swizzle = swizzle};
    plain_ = value_or_throw(gemms.gemm({.tile = tile, .elements = Elements::bf16, .regions = 1}));
    waiting_ = value_or_throw(gemms.gemm({.tile = tile,
                                          .elements = Elements::bf16,
                                          .regions = static_cast<int>(cuts_.size()),
                                          .waits = true}));
    GeneratedRows rows{.own = a_.get()};
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      rows.arrivals.push_back({cuts_[i].tiles, i == 0 ? nullptr : flag(i)});
    }
    GeneratedOperands operands{.a = a_.get(), .b = b_.get(), .k = problem.k};
    operands.segments = {
        {.region = {.end = together.tiles(), .rows = problem.m, .columns = problem.n},
         .c = c_.get(),
         .row_stride = problem.n,
         .block_stride = problem.m * problem.n}};
    plain_launch_ = plain_->prepare(together, {.sms = sms}, operands, nullptr);
    operands.segments.front().region = {
        .end = tiles.tiles(), .rows = tiles.block_rows, .columns = problem.n};
    operands.segments.front().block_stride = tiles.block_rows * problem.n;
    operands.rows = std::move(rows);
    words_ = device_memory(sizeof(kernels::RankFlags));
    OVT_CHECK(cudaMemset(words_.get(), 0, sizeof(kernels::RankFlags)));
    operands.barrier = {.ranks = 1,
                        .control = waits_.control(),
                        .flags = {static_cast<kernels::RankFlags*>(words_.get())}};
    waiting_launch_ = waiting_->prepare(tiles, {.sms = sms}, operands, nullptr);
    for (GeneratedRows::Arrival& arrival : operands.rows->arrivals) arrival.counter = nullptr;
    no_flags_launch_ = waiting_->prepare(tiles, {.sms = sms}, operands, nullptr);
  }

  [[nodiscard]] double plain() { return time_of(stream_.get(), *plain_, {&plain_launch_, 1}); }
  /// With flags that are up.
  [[nodiscard]] double waiting() {
    raise_all();
    return time_of(stream_.get(), *waiting_, {&waiting_launch_, 1});
  }
  /// The waiting kernel, where no flag is polled.
  [[nodiscard]] double no_flags() {
    return time_of(stream_.get(), *waiting_, {&no_flags_launch_, 1});
  }
  /// The copies alone, or with the GEMM beside them.
  [[nodiscard]] double copies(bool with_gemm) {
    return time_of(stream_.get(), [&](std::size_t) {
      OVT_CHECK(
          cudaMemsetAsync(flags_.get(), 0, cuts_.size() * sizeof(std::uint32_t), stream_.get()));
      OVT_CHECK(cudaEventRecord(fork_.get(), stream_.get()));
      OVT_CHECK(cudaStreamWaitEvent(lane_.get(), fork_.get(), 0));
      const auto arriving = arriving_rows(order_, cuts_);
      for (std::size_t i = 1; i < cuts_.size(); ++i) {
        const int source = (problem_.ranks - arriving[i].block) % problem_.ranks;
        const std::size_t at = bytes_of_elements(
            (source * order_.block.block_rows + arriving[i].first_row) * problem_.k);
        OVT_CHECK(cudaMemcpyAsync(
            static_cast<std::byte*>(a_.get()) + at, static_cast<std::byte*>(host_.get()) + at,
            bytes_of_elements(arriving[i].rows * problem_.k), cudaMemcpyHostToDevice, lane_.get()));
        MemoryOperations raise;
        raise.write(flag(i), 1);
        raise.enqueue(lane_.get());
      }
      if (with_gemm) waiting_->enqueue(stream_.get(), waiting_launch_);
      OVT_CHECK(cudaEventRecord(join_.get(), lane_.get()));
      OVT_CHECK(cudaStreamWaitEvent(stream_.get(), join_.get(), 0));
    });
  }

 private:
  [[nodiscard]] std::uint32_t* flag(std::size_t i) const {
    return static_cast<std::uint32_t*>(flags_.get()) + i;
  }
  void raise_all() {
    OVT_CHECK(
        cudaMemsetAsync(flags_.get(), 1, cuts_.size() * sizeof(std::uint32_t), stream_.get()));
  }

  Problem problem_;
  Stream stream_ = make_stream();
  Waits waits_{std::chrono::seconds(20)};
  DeviceMemory words_{};
  Stream lane_ = make_stream(Priority::high);
  Event fork_ = make_event(false);
  Event join_ = make_event(false);
  DeviceMemory a_;
  DeviceMemory b_;
  DeviceMemory c_;
  DeviceMemory flags_{};
  HostMemory host_;
  ArrivalOrder order_;
  std::vector<Cut> cuts_{};
  const GeneratedGemm* plain_ = nullptr;
  const GeneratedGemm* waiting_ = nullptr;
  GeneratedLaunch plain_launch_{};
  GeneratedLaunch waiting_launch_{};
  GeneratedLaunch no_flags_launch_{};
};

/// Medians of interleaved rounds: plain, waiting, copies, both.
void measure_shape(GeneratedGemms& gemms, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Tile& tile, int swizzle, int sms) {
  const Problem problem{.op = Op::all_gather_gemm, .m = m, .n = n, .k = k, .ranks = 4};
  Bench bench(gemms, problem, tile, swizzle, 2, sms);
  std::vector<double> plain;
  std::vector<double> no_flags;
  std::vector<double> waiting;
  std::vector<double> copies;
  std::vector<double> both;
  static_cast<void>(bench.copies(true));
  for (int round = 0; round < kRounds; ++round) {
    // A kernel that follows another one finds the GPU hotter: they change places.
    const bool first = round % 2 == 0;
    const double before = first ? bench.plain() : 0;
    waiting.push_back(bench.waiting());
    no_flags.push_back(bench.no_flags());
    plain.push_back(first ? before : bench.plain());
    waiting.back() /= plain.back();
    no_flags.back() /= plain.back();
    copies.push_back(bench.copies(false));
    both.push_back(bench.copies(true));
  }
  const double longer = std::max(quantile(plain, 0.5), quantile(copies, 0.5));
  fmt::print(
      "| {:>5} | {:>5} | {:>5} | {:>10} | {} | {:>7.1f} | {:.4f} | {:.4f} | {:>7.1f} | {:>7.1f} | "
      "{:.3f} |\n",
      m, n, k, to_string(tile), swizzle, quantile(plain, 0.5), quantile(no_flags, 0.5),
      quantile(waiting, 0.5), quantile(copies, 0.5), quantile(both, 0.5),
      longer / quantile(both, 0.5));
}

/// Copies from the host in `pieces` with a flag behind each, over one or two streams.
double time_of_pieces(std::size_t bytes, int pieces, std::size_t lanes) {
  const Stream stream = make_stream();
  const Event fork = make_event(false);
  const DeviceMemory to = device_memory(bytes);
  const DeviceMemory flags = device_memory(static_cast<std::size_t>(pieces) * 4);
  const HostMemory from = host_memory(bytes);
  std::vector<Stream> list;
  std::vector<Event> joins;
  for (std::size_t i = 0; i < lanes; ++i) {
    list.push_back(make_stream(Priority::high));
    joins.push_back(make_event(false));
  }
  const std::size_t piece = bytes / static_cast<std::size_t>(pieces);
  const Graph graph = captured(stream.get(), [&](cudaStream_t main) {
    OVT_CHECK(cudaEventRecord(fork.get(), main));
    for (const Stream& lane : list) OVT_CHECK(cudaStreamWaitEvent(lane.get(), fork.get(), 0));
    for (int i = 0; i < pieces; ++i) {
      const cudaStream_t lane = list[static_cast<std::size_t>(i) % lanes].get();
      const std::size_t at = static_cast<std::size_t>(i) * piece;
      OVT_CHECK(cudaMemcpyAsync(static_cast<std::byte*>(to.get()) + at,
                                static_cast<std::byte*>(from.get()) + at, piece,
                                cudaMemcpyHostToDevice, lane));
      MemoryOperations raise;
      raise.write(static_cast<std::uint32_t*>(flags.get()) + i, 1);
      raise.enqueue(lane);
    }
    for (std::size_t i = 0; i < lanes; ++i) {
      OVT_CHECK(cudaEventRecord(joins[i].get(), list[i].get()));
      OVT_CHECK(cudaStreamWaitEvent(main, joins[i].get(), 0));
    }
  });
  const GraphExec exec = instantiated(graph);
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    times.push_back(time_of(
        stream.get(), [&](std::size_t) { OVT_CHECK(cudaGraphLaunch(exec.get(), stream.get())); }));
  }
  return quantile(times, 0.5);
}

void measure(const cudaDeviceProp& properties) {
  GeneratedGemms gemms;
  const int sms = properties.multiProcessorCount;
  const bool hopper = properties.major == 9;
  fmt::print("{}, bf16, 4 row blocks, 2 pieces each from the host\n\n", properties.name);
  fmt::print(
      "| M | N | K | tile | swizzle | GEMM us | without flags, over it | with flags that are up, "
      "over it | copies us | both us | the longer over both |\n"
      "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  const Tile wide = hopper ? Tile{128, 256, 64, 4, 1} : Tile{128, 128, 64, 3, 1};
  const Tile pair = hopper ? Tile{128, 256, 64, 4, 2} : Tile{128, 128, 64, 4, 1};
  const Tile high = hopper ? Tile{256, 128, 64, 4, 2} : Tile{64, 128, 64, 4, 1};
  const Tile low = hopper ? Tile{64, 128, 64, 6, 1} : Tile{64, 64, 64, 4, 1};
  for (const Tile& tile : {wide, pair, high}) {
    measure_shape(gemms, 4096, 7168, 8192, tile, 4, sms);
    measure_shape(gemms, 8192, 7168, 8192, tile, 4, sms);
    measure_shape(gemms, 16384, 7168, 8192, tile, 4, sms);
    measure_shape(gemms, 8192, 4608, 12288, tile, 4, sms);
  }
  measure_shape(gemms, 1024, 1280, 8192, low, 1, sms);
  if (hopper) {  // operands come to narrow tiles no faster than the loading thread asks for them
    measure_shape(gemms, 1024, 1280, 8192, {64, 80, 64, 7, 1}, 4, sms);
    measure_shape(gemms, 1024, 2560, 8192, {64, 160, 64, 6, 1}, 4, sms);
    measure_shape(gemms, 1024, 2560, 8192, {128, 96, 64, 6, 1}, 2, sms);
  }
  measure_shape(gemms, 4096, 1280, 8192, wide, 4, sms);
  measure_shape(gemms, 16384, 1280, 8192, wide, 4, sms);

  fmt::print("\n| bytes | pieces | one stream us | two streams us |\n|--:|--:|--:|--:|\n");
  for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{1} << 24}) {
    for (const int pieces : {1, 8, 32}) {
      fmt::print("| {} | {} | {:.1f} | {:.1f} |\n", bytes, pieces, time_of_pieces(bytes, pieces, 1),
                 time_of_pieces(bytes, pieces, 2));
    }
  }
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("waiting_bench", overlaptune::run::measure);
}
