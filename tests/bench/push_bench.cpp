// Measures generated GEMMs that push rows of A in chunks of columns, by CTAs of their own or by the
// tiles that load them. One GPU is its own peer: what
// a launch pushes are the rows that its later tiles wait for. Its stores into its own memory are
// faster than those over links, so that fewer CTAs stand for more. Needs a GPU of Hopper.

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "run/waits/waits.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr int kNone = -1;

struct PushLaunch {
  const GeneratedGemm* gemm;
  GeneratedLaunch launch;
};

/// A GEMM of a row block for each rank, all with the same rows: its own, and the copies of them
/// that it pushes, as if to so many peers.
class Bench {
 public:
  Bench(GeneratedGemms& gemms, const Problem& problem, const Tile& tile, int swizzle, int sms)
      : problem_(problem),
        sms_(sms),
        order_(arrival_order(problem, tile, swizzle)),
        tiles_(tile_order(problem, tile, swizzle)),
        own_(device_memory(bytes_of_elements(problem.m / problem.ranks * problem.k))),
        gathered_(device_memory(bytes_of_elements(problem.m * problem.k))),
        b_(device_memory(bytes_of_elements(problem.n * problem.k))),
        c_(device_memory(bytes_of_elements(problem.m * problem.n))),
        words_(device_memory(sizeof(kernels::RankFlags))),
        high_(device_memory(sizeof kernels::RankFlags::counters)),
        gemm_(value_or_throw(gemms.gemm(
            {.tile = tile, .elements = Elements::bf16, .regions = problem.ranks, .waits = true}))),
        tiles_push_(!may_push(tile) ? nullptr
                                    : value_or_throw(gemms.gemm({.tile = tile,
                                                                 .elements = Elements::bf16,
                                                                 .regions = problem.ranks,
                                                                 .waits = true,
                                                                 .tiles_push = true}))) {
    const cudaStream_t stream = stream_.get();
    OVT_CHECK(kernels::fill_normal(stream, own_.get(), Dtype::bf16,
                                   problem.m / problem.ranks * problem.k, 1));
    OVT_CHECK(kernels::fill_normal(stream, b_.get(), Dtype::bf16, problem.n * problem.k, 2));
    OVT_CHECK(cudaMemsetAsync(words_.get(), 0, sizeof(kernels::RankFlags), stream));
    OVT_CHECK(cudaMemsetAsync(high_.get(), 1, sizeof kernels::RankFlags::counters, stream));
  }

  /// `ctas`: those that push, `kTilesPush`, or `kNone`: all rows are there, and none are pushed;
  /// with chunks, a launch looks at each all the same.
  [[nodiscard]] PushLaunch launch(int ctas, int chunks) const {
    std::vector<Cut> cuts;
    for (int block = 0; block < problem_.ranks; ++block) {
      cuts.push_back(arrival_cut(order_, block, order_.block.swizzle_groups()));
    }
    const auto sent = arriving_rows(order_, cuts);
    auto* const flags = static_cast<kernels::RankFlags*>(words_.get());
    GeneratedRows rows{.own = own_.get(), .arrivals = {{.end = cuts[0].tiles}}};
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      rows.arrivals.push_back({.end = cuts[i].tiles,
                               .counter = ctas >= 0
                                              ? flags->counters + i
                                              : static_cast<const std::uint32_t*>(high_.get()),
                               .sent = sent[i]});
    }
    if (chunks > 1) rows.chunk_columns = chunk_columns(problem_, chunks);
    if (ctas >= 0) rows.pushes = {.ctas = ctas, .gathered = peers()};
    const std::int64_t block = order_.block.block_rows;
    kernels::RankBarrier barrier{.ranks = problem_.ranks, .control = waits_.control()};
    std::fill_n(barrier.flags.begin(), problem_.ranks, flags);
    const GeneratedGemm* const gemm = ctas == kTilesPush ? tiles_push_ : gemm_;
    GeneratedLaunch made = gemm->prepare(
        tiles_, {.sms = sms_},
        {.a = gathered_.get(),
         .b = b_.get(),
         .k = problem_.k,
         .segments = {{.region = {.end = tiles_.tiles(), .rows = block, .columns = problem_.n},
                       .c = c_.get(),
                       .row_stride = problem_.n,
                       .block_stride = block * problem_.n}},
         .rows = std::move(rows),
         .barrier = barrier},
        nullptr);
    return {gemm, std::move(made)};
  }

  [[nodiscard]] double time(const PushLaunch& launch) const {
    return time_of(stream_.get(), [&](std::size_t) { run(launch); });
  }

  /// Whether all row blocks of C are alike after a run in which neither the rows nor C were numbers
  /// before. (`plan_check` compares results with fp32 products.)
  [[nodiscard]] bool is_right(const PushLaunch& launch) const {
    const std::size_t block = bytes_of_elements(problem_.m / problem_.ranks * problem_.n);
    OVT_CHECK(cudaMemsetAsync(gathered_.get(), 0xff, bytes_of_elements(problem_.m * problem_.k),
                              stream_.get()));
    OVT_CHECK(cudaMemsetAsync(c_.get(), 0xff, block * static_cast<std::size_t>(problem_.ranks),
                              stream_.get()));
    run(launch);
    std::vector<char> c(block * static_cast<std::size_t>(problem_.ranks));
    OVT_CHECK(cudaMemcpyAsync(c.data(), c_.get(), c.size(), cudaMemcpyDeviceToHost, stream_.get()));
    OVT_CHECK(cudaStreamSynchronize(stream_.get()));
    return std::memcmp(c.data(), c.data() + block, c.size() - block) == 0;
  }

 private:
  /// The matrix of each rank, of which the launch writes the first row block only: that of rank r
  /// begins where this launch has row block `ranks - r`.
  [[nodiscard]] std::vector<void*> peers() const {
    const std::size_t block = bytes_of_elements(problem_.m / problem_.ranks * problem_.k);
    std::vector<void*> list;
    for (int rank = 0; rank < problem_.ranks; ++rank) {
      const int copy = (problem_.ranks - rank) % problem_.ranks;
      list.push_back(static_cast<std::byte*>(gathered_.get()) +
                     block * static_cast<std::size_t>(copy));
    }
    return list;
  }

  void run(const PushLaunch& launch) const {
    OVT_CHECK(cudaMemsetAsync(words_.get(), 0, sizeof kernels::RankFlags::counters, stream_.get()));
    launch.gemm->enqueue(stream_.get(), launch.launch);
  }

  Problem problem_;
  int sms_;
  ArrivalOrder order_;
  TileOrder tiles_;
  Stream stream_ = make_stream();
  Waits waits_{std::chrono::seconds(5)};
  DeviceMemory own_;
  DeviceMemory gathered_;
  DeviceMemory b_;
  DeviceMemory c_;
  DeviceMemory words_;
  DeviceMemory high_;  ///< counters of rows that are there
  const GeneratedGemm* gemm_;
  const GeneratedGemm* tiles_push_;  ///< none with clusters
};

constexpr std::array kChunks{1, 2, 4, 8};
constexpr std::array kChunksOfTiles{2, 4, 8, 16};

/// Medians of interleaved rounds.
void measure_shape(GeneratedGemms& gemms, int ranks, std::int64_t m, std::int64_t n,
                   const Tile& tile, int swizzle, int sms) {
  const Problem problem{.op = Op::all_gather_gemm, .m = m, .n = n, .k = 8192, .ranks = ranks};
  const Bench bench(gemms, problem, tile, swizzle, sms);
  for (const int ctas : {8, 16}) {
    std::vector<PushLaunch> launches{bench.launch(kNone, 1), bench.launch(kNone, 4)};
    for (const int chunks : kChunks) launches.push_back(bench.launch(ctas, chunks));
    if (may_push(tile)) {
      for (const int chunks : kChunksOfTiles) launches.push_back(bench.launch(kTilesPush, chunks));
    }
    for (std::size_t i = 2; i < launches.size(); ++i) {
      if (!bench.is_right(launches[i])) throw std::runtime_error("a result is wrong");
    }
    std::vector<std::vector<double>> times(launches.size());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < launches.size(); ++i) {
        times[i].push_back(bench.time(launches[i]));
      }
    }
    std::string row = fmt::format("| {} | {} | {} | {} | {} |", ranks, m, n, to_string(tile), ctas);
    for (const auto& list : times) row += fmt::format(" {:.1f} |", quantile(list, 0.5));
    fmt::print("{}\n", row);
  }
}

void measure(const cudaDeviceProp& properties) {
  GeneratedGemms gemms;
  const int sms = properties.multiProcessorCount;
  fmt::print(
      "{}, bf16, K 8192, a row block for each rank, all but one pushed by the launch, us\n\n",
      properties.name);
  fmt::print(
      "| ranks | M | N | tile | CTAs that push | rows there | in 4 chunks | 1 chunk | 2 | 4 | 8 | "
      "tiles push 2 chunks | 4 | 8 | 16 |\n"
      "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  measure_shape(gemms, 2, 1024, 1280, {64, 192, 64, 6, 1}, 8, sms);
  measure_shape(gemms, 2, 1024, 1280, {128, 96, 64, 6, 1}, 4, sms);
  measure_shape(gemms, 2, 1024, 1280, {64, 160, 64, 6, 1}, 8, sms);
  measure_shape(gemms, 2, 1024, 1280, {64, 80, 64, 7, 1}, 8, sms);
  measure_shape(gemms, 2, 2048, 1280, {64, 160, 64, 6, 1}, 8, sms);
  measure_shape(gemms, 2, 1024, 1280, {64, 96, 64, 7, 2}, 8, sms);
  measure_shape(gemms, 2, 2048, 1280, {128, 192, 64, 5, 1}, 8, sms);
  measure_shape(gemms, 2, 1024, 2560, {128, 192, 64, 5, 1}, 4, sms);
  measure_shape(gemms, 2, 2048, 1280, {128, 160, 64, 5, 1}, 8, sms);
  measure_shape(gemms, 2, 1024, 2560, {128, 160, 64, 5, 1}, 4, sms);
  measure_shape(gemms, 2, 2048, 2560, {128, 160, 64, 5, 1}, 8, sms);
  measure_shape(gemms, 4, 1024, 1280, {64, 160, 64, 6, 1}, 4, sms);
  measure_shape(gemms, 4, 2048, 1280, {128, 160, 64, 5, 1}, 4, sms);
  measure_shape(gemms, 4, 1024, 2560, {128, 160, 64, 5, 1}, 2, sms);
  measure_shape(gemms, 4, 2048, 2560, {128, 160, 64, 5, 1}, 4, sms);
  measure_shape(gemms, 8, 1024, 1280, {64, 160, 64, 6, 1}, 2, sms);
  measure_shape(gemms, 8, 2048, 1280, {128, 160, 64, 5, 1}, 2, sms);
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("push_bench", overlaptune::run::measure);
}
