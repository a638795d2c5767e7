// Measures what storing at ranks costs a generated GEMM apart from the links: rank 0 of two runs,
// and the memory of rank 1 is on the same GPU, too. Nothing is waited for. Each tile runs plain and
// storing, in turn; the plain GEMM stores all tiles into one matrix. Needs a Hopper GPU.

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "run/waits/waits.hpp"
#include "strategies/peer_store/run_stored_tiles.hpp"
#include "tests/bench/gpu_bench.hpp"

namespace overlaptune::run {
namespace {

constexpr int kRanks = 2;

/// Groups of so many waves of each rank's tiles.
std::vector<Cut> cuts_of(const TileOrder& order, int sms, int waves) {
  std::vector<Cut> cuts;
  const std::int64_t step = std::int64_t{kRanks} * sms * waves;
  for (std::int64_t at = step; at < order.tiles(); at += step) {
    const Cut cut = cut_at(order, at);
    if (cut.tiles > (cuts.empty() ? 0 : cuts.back().tiles)) cuts.push_back(cut);
  }
  if (cuts.empty() || cuts.back().tiles < order.tiles()) {
    cuts.push_back(cut_at(order, order.tiles()));
  }
  return cuts;
}

class Bench {
 public:
  Bench(GeneratedGemms& gemms, const Problem& problem, const Tile& tile, int swizzle, int waves,
        int sms)
      : a_(device_memory(bytes_of_elements(problem.m * problem.k))),
        b_(device_memory(bytes_of_elements(problem.n * problem.k))),
        c_(device_memory(bytes_of_elements(problem.m * problem.n))),
        there_(device_memory(bytes_of_elements(problem.m * problem.n))),
        words_(device_memory(kRanks * sizeof(kernels::RankFlags))) {
    OVT_CHECK(kernels::fill_normal(stream_.get(), a_.get(), Dtype::bf16, problem.m * problem.k, 1));
    OVT_CHECK(kernels::fill_normal(stream_.get(), b_.get(), Dtype::bf16, problem.n * problem.k, 2));
    // The other rank is always ready.
    OVT_CHECK(cudaMemset(words_.get(), 0, kRanks * sizeof(kernels::RankFlags)));
    auto* const words = static_cast<kernels::RankFlags*>(words_.get());
    OVT_CHECK(cudaMemset(&words->ready[1], 0x3f, sizeof words->ready[1]));

    const TileOrder order = tile_order(problem, tile, swizzle);
    const std::vector<Cut> cuts = cuts_of(order, sms, waves);
    const StoreOrder stored = store_order(problem, order, cuts);
    slots_ = device_memory(static_cast<std::size_t>(2 * bytes_of_slots(problem, stored) + 16));
    auto* const slots = static_cast<std::byte*>(slots_.get());
    plain_ = value_or_throw(gemms.gemm({.tile = tile, .elements = Elements::bf16}));
    storing_ = value_or_throw(gemms.gemm({.tile = tile,
                                          .elements = Elements::bf16,
                                          .regions = static_cast<int>(cuts.size()),
                                          .ranks = kRanks}));
    GeneratedOperands operands{.a = a_.get(), .b = b_.get(), .k = problem.k};
    operands.stores =
        stores_of(problem, stored, 0,
                  {{.slots = slots, .c = c_.get()},
                   {.slots = slots + bytes_of_slots(problem, stored), .c = there_.get()}},
                  storing_->signals_a_tile());
    for (GeneratedStores::Group& group : operands.stores->groups) group.arrivals = 0;
    operands.stores->done = 0;
    operands.barrier = {.ranks = kRanks, .control = waits_.control(), .flags = {words, words + 1}};
    operands.has_barrier = true;
    storing_launch_ = storing_->prepare(order, {.sms = sms}, operands, nullptr);
    const TileOrder together{.block_rows = problem.m,
                             .n = problem.n,
                             .block_m = tile.block_m,
                             .block_n = tile.block_n,
                             .swizzle = swizzle};
    operands.stores.reset();
    operands.segments = {
        {.region = {.end = together.tiles(), .rows = problem.m, .columns = problem.n},
         .c = c_.get(),
         .row_stride = problem.n,
         .block_stride = problem.m * problem.n}};
    plain_launch_ = plain_->prepare(together, {.sms = sms}, operands, nullptr);
  }

  [[nodiscard]] double plain() { return time_of(stream_.get(), *plain_, {&plain_launch_, 1}); }
  [[nodiscard]] double storing() {
    return time_of(stream_.get(), *storing_, {&storing_launch_, 1});
  }

 private:
  Stream stream_ = make_stream();
  Waits waits_{std::chrono::seconds(20)};
  DeviceMemory a_;
  DeviceMemory b_;
  DeviceMemory c_;
  DeviceMemory there_;
  DeviceMemory words_;
  DeviceMemory slots_{};
  const GeneratedGemm* plain_ = nullptr;
  const GeneratedGemm* storing_ = nullptr;
  GeneratedLaunch plain_launch_{};
  GeneratedLaunch storing_launch_{};
};

struct Best {
  double plain = 1e300;
  double storing = 1e300;
};

void measure_shape(GeneratedGemms& gemms, Op op, std::int64_t m, std::int64_t k, int sms) {
  const Problem problem{.op = op, .m = m, .n = 8192, .k = k, .ranks = kRanks};
  Best best;
  for (const Tile& tile :
       {Tile{128, 256, 64, 4, 1}, Tile{128, 256, 64, 3, 1}, Tile{128, 256, 64, 4, 2},
        Tile{128, 192, 64, 5, 1}, Tile{128, 192, 64, 4, 1}, Tile{192, 128, 64, 4, 1},
        Tile{128, 128, 64, 5, 1}, Tile{192, 192, 64, 3, 1}, Tile{256, 128, 64, 3, 1}}) {
    for (const int waves : {1, 4}) {
      Bench bench(gemms, problem, tile, 8, waves, sms);
      std::vector<double> plain;
      std::vector<double> storing;
      static_cast<void>(bench.storing());
      for (int round = 0; round < kRounds / 2; ++round) {
        // A kernel that follows another one finds the GPU hotter: they change places.
        if (round % 2 == 0) plain.push_back(bench.plain());
        storing.push_back(bench.storing());
        if (round % 2 == 1) plain.push_back(bench.plain());
      }
      best.plain = std::min(best.plain, quantile(plain, 0.5));
      best.storing = std::min(best.storing, quantile(storing, 0.5));
      fmt::print("| {} | {:>5} | {:>5} | {}, {}{} | {} | {:>7.1f} | {:>7.1f} | {:.3f} |\n",
                 to_string(op), m, k, to_string(tile), tile.stages,
                 tile.cluster > 1 ? ", cluster" : "", waves, quantile(plain, 0.5),
                 quantile(storing, 0.5), quantile(storing, 0.5) / quantile(plain, 0.5));
    }
  }
  fmt::print("| {} | {:>5} | {:>5} | the best | | {:>7.1f} | {:>7.1f} | {:.3f} |\n", to_string(op),
             m, k, best.plain, best.storing, best.storing / best.plain);
  std::fflush(stdout);
}

void measure(const cudaDeviceProp& properties) {
  if (properties.major != 9) {
    fmt::print("{}: no Hopper GPU\n", properties.name);
    return;
  }
  GeneratedGemms gemms;
  fmt::print("{}, bf16, N = 8192, 2 ranks\n\n", properties.name);
  fmt::print(
      "| op | M | K | tile, stages | waves of a group | plain us | storing us | storing over plain "
      "|\n"
      "|---|--:|--:|---|--:|--:|--:|--:|\n");
  for (const std::int64_t k : {1024, 3584, 14336}) {
    for (const std::int64_t m : {1024, 4096, 16384}) {
      measure_shape(gemms, Op::gemm_reduce_scatter, m, k, properties.multiProcessorCount);
    }
  }
  for (const Op op : {Op::gemm_all_to_all, Op::gemm_all_reduce}) {
    measure_shape(gemms, op, 4096, 1024, properties.multiProcessorCount);
    measure_shape(gemms, op, 4096, 3584, properties.multiProcessorCount);
  }
}

}  // namespace
}  // namespace overlaptune::run

int main() {
  return overlaptune::run::measured("peer_store_bench", overlaptune::run::measure);
}
