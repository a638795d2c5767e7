// Pushes by peer access, and GEMMs that send rows beside their tiles and wait for those of the
// others: all ranks on one GPU, each on a stream of its own.

#include "kernels/peer_push.hpp"

#include <random>

#include "gpu.hpp"
#include "kernels/support.hpp"
#include "ranks_on_one_gpu.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::run {
namespace {

using kernels::PeerPush;

struct PushShape {
  int ranks = 0;
  std::int64_t block_rows = 0;
  std::int64_t row_bytes = 0;
};

/// A GEMM that pushes.
struct PushCase {
  int ranks = 0;
  Tile tile{};
};

class PeerPushTest : public GpuTest {
 protected:
  /// Allocates matrices of all row blocks, and words, for all ranks.
  void allocate(const PushShape& shape) {
    memory_.clear();
    streams_.clear();
    ranks_ = shape.ranks;
    barriers_.emplace(shape.ranks);
    push_ = {.bytes = shape.block_rows * shape.row_bytes};
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      push_.matrices[r] = filled(matrix_bytes(), 0xff);
      streams_.push_back(make_stream(Priority::high));
    }
  }

  void* filled(std::size_t bytes, int value) {
    memory_.push_back(device_memory(bytes));
    OVT_CHECK(cudaMemset(memory_.back().get(), value, bytes));
    return memory_.back().get();
  }

  [[nodiscard]] std::size_t block_bytes() const { return static_cast<std::size_t>(push_.bytes); }
  [[nodiscard]] std::size_t matrix_bytes() const {
    return block_bytes() * static_cast<std::size_t>(ranks_);
  }

  /// Pushes the block of every rank, and waits for the end.
  void push_all(const std::vector<void*>& sources, int ctas) {
    OVT_CHECK(cudaDeviceSynchronize());
    for (int rank = 0; rank < ranks_; ++rank) {
      const cudaStream_t own = streams_[static_cast<std::size_t>(rank)].get();
      push_.barrier = barriers_->barrier(rank);
      push_.source = sources[static_cast<std::size_t>(rank)];
      barriers_->enqueue_gate(own, rank);
      OVT_CHECK(kernels::push(own, push_, ctas));
    }
    for (const Stream& each : streams_) OVT_CHECK(cudaStreamSynchronize(each.get()));
  }

  /// The largest error of GEMMs that push their rows, on `sms` SMs for each rank; 1 where an
  /// element is not finite. Ranks begin at random times.
  double error_of(GeneratedGemms& gemms, const PushCase& of, std::int64_t n, std::int64_t k,
                  int sms, bool gate) {
    const std::int64_t block_rows = 512;
    const Problem problem{.op = Op::all_gather_gemm,
                          .m = of.ranks * block_rows,
                          .n = n,
                          .k = k,
                          .elements = Elements::bf16,
                          .ranks = of.ranks};
    allocate({.ranks = of.ranks, .block_rows = block_rows, .row_bytes = 2 * k});
    const ArrivalOrder order = arrival_order(problem, of.tile, 1);
    std::vector<Cut> cuts{arrival_cut(order, 1, 0)};
    const std::int64_t swizzles = order.block.swizzle_groups();
    for (int block = 1; block < of.ranks; ++block) {
      for (int i = 1; i <= 2; ++i) {
        const Cut cut = arrival_cut(order, block, i * swizzles / 2);
        if (cut.tiles > cuts.back().tiles) cuts.push_back(cut);
      }
    }
    const std::vector<ArrivingRows> rows = arriving_rows(order, cuts);
    const auto gemm = gemms.gemm({.tile = of.tile,
                                  .elements = problem.elements,
                                  .regions = static_cast<int>(cuts.size()),
                                  .waits = true});
    EXPECT_TRUE(gemm) << gemm.error().message;
    if (!gemm) return 1;
    const TileOrder tiles = tile_order(problem, of.tile, 1);
    auto* const all_of_a = static_cast<std::byte*>(filled(matrix_bytes(), 0));
    void* const b = filled(static_cast<std::size_t>(2 * n * k), 0);
    OVT_CHECK(
        kernels::fill_normal(stream(), all_of_a, operand_of(problem.elements), problem.m * k, 1));
    OVT_CHECK(kernels::fill_normal(stream(), b, operand_of(problem.elements), n * k, 2));
    std::vector<void*> results;
    std::vector<GeneratedLaunch> launches;
    for (int rank = 0; rank < of.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      results.push_back(filled(static_cast<std::size_t>(2 * problem.m * n), 0xff));
      GeneratedRows waits{.own = all_of_a + r * block_bytes(), .own_block = rank};
      for (std::size_t group = 0; group < cuts.size(); ++group) {
        waits.arrivals.push_back({.end = cuts[group].tiles, .sent = rows[group]});
        if (group > 0)
          waits.arrivals.back().counter = barriers_->flags_of_rank(rank)->counters + group;
      }
      waits.pushes = {.ctas = 2};
      for (int peer = 0; peer < of.ranks; ++peer) {
        waits.pushes->gathered.push_back(push_.matrices[static_cast<std::size_t>(peer)]);
      }
      launches.push_back((*gemm)->prepare(
          tiles, {.sms = sms},
          {.a = push_.matrices[r],
           .b = b,
           .k = k,
           .segments = {{.region = {.end = tiles.tiles(), .rows = block_rows, .columns = n},
                         .c = results.back(),
                         .row_stride = n,
                         .block_stride = block_rows * n}},
           .rows = std::move(waits),
           .barrier = barriers_->barrier(rank),
           .has_barrier = !gate},
          nullptr));
    }
    OVT_CHECK(kernels::spin(stream(), 0));  // loads the kernel
    OVT_CHECK(cudaDeviceSynchronize());
    for (int run = 0; run < 2; ++run) {  // the second finds counters of the first
      for (int rank = 0; rank < of.ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        OVT_CHECK(cudaMemsetAsync(push_.matrices[r], 0xff, matrix_bytes(), streams_[r].get()));
      }
      OVT_CHECK(cudaDeviceSynchronize());
      for (int rank = of.ranks; rank-- > 0;) {
        const auto r = static_cast<std::size_t>(rank);
        OVT_CHECK(kernels::spin(streams_[r].get(), static_cast<std::int64_t>(random_() % 500'000)));
        if (gate) barriers_->enqueue_gate(streams_[r].get(), rank);
        (*gemm)->enqueue(streams_[r].get(), launches[r]);
      }
      OVT_CHECK(cudaDeviceSynchronize());
    }
    EXPECT_EQ(barriers_->waits().failure(), std::nullopt);
    return deviation(problem, all_of_a, b, results);
  }

  double deviation(const Problem& problem, const void* a, const void* b,
                   const std::vector<void*>& results) {
    const auto elements = static_cast<std::size_t>(problem.m * problem.n);
    std::vector<std::int64_t> every(static_cast<std::size_t>(problem.m));
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int64_t>(i);
    const DeviceMemory list = device_memory(every.size() * 8);
    const DeviceMemory sums = device_memory(elements * 8);
    const DeviceMemory seen = device_memory(sizeof(kernels::Deviation));
    OVT_CHECK(cudaMemcpy(list.get(), every.data(), every.size() * 8, cudaMemcpyHostToDevice));
    OVT_CHECK(cudaMemset(sums.get(), 0, elements * 8));
    OVT_CHECK(kernels::add_products(stream(), a, b, static_cast<double*>(sums.get()),
                                    operand_of(problem.elements), problem.m, problem.n, problem.k));
    double worst = 0;
    for (void* const result : results) {
      OVT_CHECK(cudaMemsetAsync(seen.get(), 0, sizeof(kernels::Deviation), stream()));
      OVT_CHECK(kernels::compare(stream(), result, problem.m * problem.n,
                                 result_of(problem.elements), static_cast<double*>(sums.get()),
                                 static_cast<std::int64_t*>(list.get()), problem.m, problem.n,
                                 static_cast<kernels::Deviation*>(seen.get())));
      const auto found = on_host<kernels::Deviation>(seen.get(), 1).front();
      worst = std::max(worst, found.not_finite > 0 ? 1.0 : found.largest);
    }
    return worst;
  }

  int ranks_ = 0;
  PeerPush push_{};
  std::optional<RanksOnOneGpu> barriers_{};
  std::vector<DeviceMemory> memory_{};
  std::vector<Stream> streams_{};
  std::mt19937 random_{3};
};

TEST_F(PeerPushTest, every_row_comes_to_all_ranks) {
  for (const PushShape& shape : {PushShape{2, 1, 16}, PushShape{2, 1000, 2064},
                                 PushShape{3, 37, 48}, PushShape{8, 129, 1024}}) {
    allocate(shape);
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<std::uint8_t>> inputs;
      std::vector<void*> sources;
      for (int rank = 0; rank < shape.ranks; ++rank) {
        std::vector<std::uint8_t>& input = inputs.emplace_back(block_bytes());
        for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random_());
        sources.push_back(filled(block_bytes(), 0));
        OVT_CHECK(cudaMemcpy(sources.back(), input.data(), input.size(), cudaMemcpyHostToDevice));
      }
      push_all(sources, 1 + 3 * round);
      for (int rank = 0; rank < shape.ranks; ++rank) {
        const auto found =
            on_host<std::uint8_t>(push_.matrices[static_cast<std::size_t>(rank)], matrix_bytes());
        for (std::size_t from = 0; from < inputs.size(); ++from) {
          const auto begin = found.begin() + static_cast<std::ptrdiff_t>(from * block_bytes());
          EXPECT_TRUE(std::equal(inputs[from].begin(), inputs[from].end(), begin))
              << shape.ranks << " ranks, round " << round << ", from " << from << " to " << rank;
        }
      }
    }
  }
}

TEST_F(PeerPushTest, gemms_send_their_rows_and_wait_for_those_of_the_others) {
  int major = 0;
  OVT_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major != 9) GTEST_SKIP() << "no Hopper GPU";
  constexpr std::int64_t kN = 384;
  constexpr std::int64_t kK = 512;
  GeneratedGemms gemms;
  for (const PushCase& of : {PushCase{2, {128, 128, 64, 3, 1}}, PushCase{4, {128, 128, 64, 3, 1}},
                             PushCase{2, {128, 256, 64, 4, 1}}, PushCase{3, {128, 128, 64, 4, 2}},
                             PushCase{4, {64, 128, 64, 4, 2}}, PushCase{2, {192, 128, 64, 4, 1}}}) {
    for (const bool gate : {true, false}) {
      for (const int sms : {4, 16}) {
        const double error = error_of(gemms, of, kN, kK, sms, gate);
        EXPECT_LT(error, 1.0 / 256)
            << of.ranks << " ranks, " << to_string(of.tile) << ", " << sms << " SMs, gate " << gate;
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune::run
