// Generated GEMMs that store tiles at their owners. The ranks share one GPU: each has some of its
// SMs, and memory of its own.

#include <random>

#include "core/gpu.hpp"
#include "gpu.hpp"
#include "kernels/hopper_gemm.hpp"
#include "kernels/support.hpp"
#include "ranks_on_one_gpu.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "strategies/peer_store/run_stored_tiles.hpp"

namespace overlaptune::run {
namespace {

struct StoreCase {
  Op op = Op::gemm_reduce_scatter;
  int ranks = 2;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Tile tile{};
  int swizzle = 1;
  int columns_a_group = 1;
  Elements elements = Elements::bf16;
  bool waits = true;
  bool gate = false;    ///< the barrier is a gate, not in the kernel
  bool places = false;  ///< each rank has C at a place of its own
};

std::size_t bytes(std::int64_t elements) {
  return static_cast<std::size_t>(2 * elements);
}

class PeerStoreTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    int major = 0;
    OVT_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 9) GTEST_SKIP() << "no Hopper GPU";
    OVT_CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, 0));
  }

  /// One rank: its memory, stream and launch.
  struct Rank {
    DeviceMemory a{};
    DeviceMemory b{};
    DeviceMemory c{};
    DeviceMemory slots{};
    std::uint32_t place = 0;  ///< of C
    Stream stream{};
    GeneratedLaunch launch{};
  };

  static Problem problem_of(const StoreCase& of) {
    return {
        .op = of.op, .m = of.m, .n = of.n, .k = of.k, .elements = of.elements, .ranks = of.ranks};
  }

  /// Groups of some columns each; the last one takes what is left.
  static std::vector<Cut> cuts_of(const TileOrder& order, int columns) {
    std::vector<Cut> cuts;
    const std::int64_t step = columns * order.column_tiles(0);
    for (std::int64_t at = step; at < order.tiles() && cuts.size() < 100; at += step) {
      const Cut cut = cut_at(order, at);
      if (cut.tiles > (cuts.empty() ? 0 : cuts.back().tiles)) cuts.push_back(cut);
    }
    if (cuts.empty() || cuts.back().tiles < order.tiles()) {
      cuts.push_back(cut_at(order, order.tiles()));
    }
    return cuts;
  }

  static constexpr std::size_t kUnit = kernels::device::kPlaceBytes;
  static constexpr int kMostPlaces = 4096;

  /// The part of a rank's memory where C lies.
  static std::uint32_t part_of(int rank) { return rank % 2 == 0 ? 0 : 1; }
  static std::byte* at_place(const DeviceMemory& memory, std::uint32_t place) {
    return static_cast<std::byte*>(memory.get()) + place * kUnit;
  }
  [[nodiscard]] std::uint32_t told_place(const StoreCase& of, int rank) const {
    const std::uint32_t units = ranks_[static_cast<std::size_t>(rank)].place;
    return of.places ? kernels::device::placed_in(part_of(rank), units) : kernels::device::kNoPlace;
  }
  /// C of a rank, as its kernels leave it.
  [[nodiscard]] std::byte* c_of(int rank) const {
    const Rank& own = ranks_[static_cast<std::size_t>(rank)];
    return at_place(own.c, own.place);
  }

  static std::int64_t result_rows(const Problem& problem) {
    return problem.op == Op::gemm_reduce_scatter ? problem.m / problem.ranks : problem.m;
  }

  void prepare(const StoreCase& of) {
    const Problem problem = problem_of(of);
    const TileOrder order = tile_order(problem, of.tile, of.swizzle);
    const std::vector<Cut> cuts = cuts_of(order, of.columns_a_group);
    const StoreOrder stored = store_order(problem, order, cuts);
    const auto gemm = gemms_.gemm({.tile = of.tile,
                                   .elements = of.elements,
                                   .regions = static_cast<int>(cuts.size()),
                                   .ranks = of.ranks});
    ASSERT_TRUE(gemm) << gemm.error().message;
    gemm_ = *gemm;
    ranks_.clear();
    barriers_.emplace(of.ranks);
    for (int rank = 0; rank < of.ranks; ++rank) {
      Rank made;
      made.a = device_memory(bytes(of.m * of.k));
      made.b = device_memory(bytes(of.n * of.k));
      made.place = of.places ? static_cast<std::uint32_t>(random_() % kMostPlaces) : 0;
      made.c = device_memory(bytes(result_rows(problem) * of.n) + kMostPlaces * kUnit);
      made.slots = device_memory(static_cast<std::size_t>(bytes_of_slots(problem, stored) + 16));
      made.stream = make_stream();
      OVT_CHECK(kernels::fill_normal(stream(), made.a.get(), operand_of(of.elements), of.m * of.k,
                                     static_cast<std::uint64_t>(2 * rank + 1)));
      OVT_CHECK(kernels::fill_normal(stream(), made.b.get(), operand_of(of.elements), of.n * of.k,
                                     static_cast<std::uint64_t>(2 * rank + 2)));
      ranks_.push_back(std::move(made));
    }
    for (int rank = 0; rank < of.ranks; ++rank) {
      Rank& own = ranks_[static_cast<std::size_t>(rank)];
      GeneratedStores stores =
          stores_of(problem, stored, rank, peers_of(of, rank), gemm_->signals_a_tile());
      if (!of.waits) {
        for (GeneratedStores::Group& group : stores.groups) group.arrivals = 0;
        stores.done = 0;
      }
      if (of.places) stores.places = stores.result_places = kMostPlaces;
      const GeneratedOperands operands{.a = own.a.get(),
                                       .b = own.b.get(),
                                       .k = of.k,
                                       .stores = std::move(stores),
                                       .barrier = barriers_->barrier(rank, told_place(of, rank)),
                                       .has_barrier = !of.gate};
      own.launch = gemm_->prepare(order, {.sms = sms_ / of.ranks}, operands, nullptr);
    }
    OVT_CHECK(cudaStreamSynchronize(stream()));
  }

  [[nodiscard]] std::vector<GeneratedStores::Peer> peers_of(const StoreCase& of, int rank) const {
    std::vector<GeneratedStores::Peer> peers;
    const std::int64_t block = of.m / of.ranks * of.n;
    for (int peer = 0; peer < of.ranks; ++peer) {
      const Rank& there = ranks_[static_cast<std::size_t>(peer)];
      // The place of a peer is what the gate tells; its own rows a rank knows.
      const bool own = peer == rank;
      std::byte* c = at_place(there.c, own ? there.place : 0);
      if (of.op == Op::gemm_all_to_all) c += bytes(rank * block);
      if (of.op == Op::gemm_reduce_scatter && !own) c = nullptr;
      const bool is_result = of.places && !own && part_of(peer) == 1;
      peers.push_back({.slots = there.slots.get(),
                       .c = is_result ? nullptr : c,
                       .result = is_result ? c : nullptr});
    }
    return peers;
  }

  /// One run. Ranks begin at random times, the last one not before `late` nanoseconds.
  void run(const StoreCase& of, std::int64_t late = 0) {
    const Problem problem = problem_of(of);
    for (Rank& rank : ranks_) {
      OVT_CHECK(cudaMemsetAsync(rank.c.get(), 0xff, bytes(result_rows(problem) * of.n), stream()));
    }
    OVT_CHECK(cudaStreamSynchronize(stream()));
    for (Rank& rank : ranks_) {
      const bool last = &rank == &ranks_.back();
      const auto number = static_cast<int>(&rank - ranks_.data());
      OVT_CHECK(kernels::spin(rank.stream.get(),
                              static_cast<std::int64_t>(random_() % 100'000) + (last ? late : 0)));
      if (of.gate) barriers_->enqueue_gate(rank.stream.get(), number, told_place(of, number));
      gemm_->enqueue(rank.stream.get(), rank.launch);
    }
    for (Rank& rank : ranks_) OVT_CHECK(cudaStreamSynchronize(rank.stream.get()));
  }

  /// The largest relative error of a segment of any rank's result; 1 where an element is not
  /// finite.
  double deviation(const StoreCase& of) {
    const Problem problem = problem_of(of);
    const std::int64_t rows = result_rows(problem);
    const std::int64_t block = of.m / of.ranks;
    double worst = 0;
    for (int rank = 0; rank < of.ranks; ++rank) {
      const auto elements = static_cast<std::size_t>(rows * of.n);
      const DeviceMemory sums = device_memory(8 * elements);
      OVT_CHECK(cudaMemsetAsync(sums.get(), 0, 8 * elements, stream()));
      for (int from = 0; from < of.ranks; ++from) {
        const Rank& source = ranks_[static_cast<std::size_t>(from)];
        const bool whole = of.op == Op::gemm_all_reduce;
        const auto* a =
            static_cast<std::byte*>(source.a.get()) + (whole ? 0 : bytes(rank * block * of.k));
        const std::int64_t to = of.op == Op::gemm_all_to_all ? from * block : 0;
        OVT_CHECK(kernels::add_products(stream(), a, source.b.get(),
                                        static_cast<double*>(sums.get()) + to * of.n,
                                        operand_of(of.elements), whole ? of.m : block, of.n, of.k));
      }
      std::vector<std::int64_t> every(static_cast<std::size_t>(rows));
      for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int64_t>(i);
      const DeviceMemory list = device_memory(every.size() * 8);
      OVT_CHECK(cudaMemcpy(list.get(), every.data(), every.size() * 8, cudaMemcpyHostToDevice));
      const DeviceMemory seen = device_memory(sizeof(kernels::Deviation));
      OVT_CHECK(cudaMemsetAsync(seen.get(), 0, sizeof(kernels::Deviation), stream()));
      OVT_CHECK(kernels::compare(stream(), c_of(rank), rows * of.n, result_of(of.elements),
                                 static_cast<double*>(sums.get()),
                                 static_cast<std::int64_t*>(list.get()), rows, of.n,
                                 static_cast<kernels::Deviation*>(seen.get())));
      const auto found = on_host<kernels::Deviation>(seen.get(), 1).front();
      worst = std::max(worst, found.not_finite > 0 ? 1 : found.largest);
    }
    return worst;
  }

  [[nodiscard]] std::vector<std::uint16_t> result(const StoreCase& of, int rank) const {
    const std::int64_t elements = result_rows(problem_of(of)) * of.n;
    return on_host<std::uint16_t>(c_of(rank), static_cast<std::size_t>(elements));
  }

  double error_of(const StoreCase& of) {
    prepare(of);
    if (HasFatalFailure()) return 1;
    run(of);
    return deviation(of);
  }

  GeneratedGemms gemms_{};
  const GeneratedGemm* gemm_ = nullptr;
  std::vector<Rank> ranks_{};
  std::optional<RanksOnOneGpu> barriers_{};
  int sms_ = 0;
  std::mt19937 random_{1};
};

constexpr std::array<Op, 3> kOps{Op::gemm_reduce_scatter, Op::gemm_all_to_all, Op::gemm_all_reduce};
constexpr double kStoreBf16 = 1.0 / 256;
constexpr double kStoreFp16 = 1.0 / 2048;

TEST_F(PeerStoreTest, every_kind_of_tile_of_every_op) {
  for (const Op op : kOps) {
    for (const Tile& tile :
         {Tile{64, 256, 64, 4, 1}, Tile{128, 256, 64, 4, 1}, Tile{192, 192, 64, 4, 1},
          Tile{256, 176, 64, 3, 1}, Tile{128, 96, 64, 6, 1}, Tile{128, 256, 64, 4, 2},
          Tile{64, 128, 64, 6, 2}, Tile{256, 112, 64, 4, 2}, Tile{192, 240, 64, 3, 1},
          Tile{192, 128, 64, 4, 1}, Tile{128, 128, 64, 5, 1}, Tile{144, 128, 64, 5, 1},
          Tile{160, 256, 64, 4, 2}, Tile{240, 192, 64, 3, 1}, Tile{80, 64, 64, 6, 2}}) {
      for (const int ranks : {2, 3}) {
        EXPECT_LT(error_of({.op = op,
                            .ranks = ranks,
                            .m = ranks * 520,
                            .n = 1096,
                            .k = 328,
                            .tile = tile,
                            .swizzle = 2,
                            .columns_a_group = 2,
                            .gate = ranks == 3}),
                  kStoreBf16)
            << to_string(op) << " " << to_string(tile) << " " << ranks << " ranks";
      }
    }
  }
}

TEST_F(PeerStoreTest, each_rank_has_c_at_a_place_of_its_own) {
  for (const Op op : {Op::gemm_all_to_all, Op::gemm_all_reduce}) {
    for (const bool gate : {false, true}) {
      for (const int ranks : {2, 3}) {
        EXPECT_LT(error_of({.op = op,
                            .ranks = ranks,
                            .m = ranks * 520,
                            .n = 1096,
                            .k = 328,
                            .tile = {128, 256, 64, 4, 1},
                            .swizzle = 2,
                            .columns_a_group = 2,
                            .gate = gate,
                            .places = true}),
                  kStoreBf16)
            << to_string(op) << (gate ? " gate " : " ") << ranks;
      }
    }
  }
}

TEST_F(PeerStoreTest, up_to_eight_ranks_in_fp16) {
  for (const Op op : kOps) {
    for (const int ranks : {4, 5, 8}) {
      for (const std::int64_t k : {512, 2048}) {  // own tiles come later, and not
        EXPECT_LT(error_of({.op = op,
                            .ranks = ranks,
                            .m = ranks * 256,
                            .n = 640,
                            .k = k,
                            .tile = {128, 128, 64, 4, 1},
                            .columns_a_group = 1,
                            .elements = Elements::fp16}),
                  kStoreFp16)
            << to_string(op) << " " << ranks << " ranks, k = " << k;
      }
    }
  }
}

/// So few tiles that two CTAs share each of them.
TEST_F(PeerStoreTest, tiles_that_two_ctas_share) {
  for (const Op op : kOps) {
    EXPECT_LT(error_of({.op = op,
                        .ranks = 2,
                        .m = 256,
                        .n = 1280,
                        .k = 4096,
                        .tile = {128, 128, 64, 4, 1},
                        .columns_a_group = 3}),
              kStoreBf16)
        << to_string(op);
  }
}

/// The second CTA of a tile of one subtile has nothing to store, but signals. Its signal must not
/// come before the late rank has begun, which resets its counters then.
TEST_F(PeerStoreTest, signals_of_split_k_wait_for_a_late_rank) {
  for (const Op op : kOps) {
    const StoreCase of{.op = op,
                       .ranks = 2,
                       .m = 256,
                       .n = 320,
                       .k = 1024,
                       .tile = {128, 64, 64, 4, 1},
                       .columns_a_group = 5};
    prepare(of);
    run(of, 5'000'000);
    EXPECT_LT(deviation(of), kStoreBf16) << to_string(op);
  }
}

TEST_F(PeerStoreTest, runs_one_after_the_other_have_the_same_bits) {
  for (const Op op : kOps) {
    const StoreCase of{.op = op,
                       .ranks = 4,
                       .m = 1024,
                       .n = 1096,
                       .k = 256,
                       .tile = {128, 128, 64, 4, 1},
                       .swizzle = 2,
                       .columns_a_group = 2};
    prepare(of);
    run(of);
    std::vector<std::vector<std::uint16_t>> first;
    for (int rank = 0; rank < of.ranks; ++rank) first.push_back(result(of, rank));
    for (int i = 0; i < 200; ++i) {
      run(of);
      for (int rank = 0; rank < of.ranks; ++rank) {
        ASSERT_EQ(result(of, rank), first[static_cast<std::size_t>(rank)])
            << to_string(op) << " run " << i << " rank " << rank;
      }
    }
    EXPECT_LT(deviation(of), kStoreBf16);
    if (op == Op::gemm_all_reduce) {
      EXPECT_EQ(first.front(), first.back());  // all ranks have the same bits
    }
  }
}

/// A rank has other uses for its memory when its launch has ended, whatever the others still do.
TEST_F(PeerStoreTest, nothing_is_stored_when_a_rank_has_ended) {
  for (const Op op : {Op::gemm_all_to_all, Op::gemm_all_reduce}) {
    const StoreCase of{.op = op,
                       .ranks = 2,
                       .m = 1024,
                       .n = 1096,
                       .k = 512,
                       .tile = {128, 128, 64, 4, 1},
                       .columns_a_group = 2};
    prepare(of);
    for (int i = 0; i < 50; ++i) {
      for (Rank& rank : ranks_) {
        OVT_CHECK(kernels::spin(rank.stream.get(), static_cast<std::int64_t>(random_() % 200'000)));
        gemm_->enqueue(rank.stream.get(), rank.launch);
        OVT_CHECK(cudaMemsetAsync(rank.c.get(), 0xff, bytes(of.m * of.n), rank.stream.get()));
      }
      for (Rank& rank : ranks_) OVT_CHECK(cudaStreamSynchronize(rank.stream.get()));
      for (int rank = 0; rank < of.ranks; ++rank) {
        const auto left = result(of, rank);
        ASSERT_TRUE(std::ranges::all_of(left, [](std::uint16_t each) { return each == 0xffff; }))
            << to_string(op) << " run " << i << " rank " << rank;
      }
    }
  }
}

/// Launches that follow one another at once, without the host between them.
TEST_F(PeerStoreTest, back_to_back) {
  for (const Op op : kOps) {
    const StoreCase of{.op = op,
                       .ranks = 2,
                       .m = 1024,
                       .n = 1024,
                       .k = 512,
                       .tile = {128, 256, 64, 4, 1},
                       .columns_a_group = 1};
    prepare(of);
    for (int i = 0; i < 50; ++i) {
      for (Rank& rank : ranks_) gemm_->enqueue(rank.stream.get(), rank.launch);
    }
    run(of);
    EXPECT_LT(deviation(of), kStoreBf16) << to_string(op);
  }
}

TEST_F(PeerStoreTest, a_wait_that_is_skipped_is_seen) {
  for (const Op op : {Op::gemm_reduce_scatter, Op::gemm_all_reduce}) {
    StoreCase of{.op = op,
                 .ranks = 2,
                 .m = 2048,
                 .n = 1024,
                 .k = 1024,
                 .tile = {128, 128, 64, 4, 1},
                 .columns_a_group = 1,
                 .waits = false};
    prepare(of);
    for (Rank& rank : ranks_) {  // no number, where nothing has arrived
      OVT_CHECK(cudaMemset(rank.slots.get(), 0xff, bytes(of.m * of.n / 2)));
    }
    run(of, 50'000'000);  // the first rank has tiles for which the second has stored nothing yet
    EXPECT_GE(deviation(of), 1) << to_string(op);
  }
}

/// Sums in bf16 would be off by more, because each addition rounds.
TEST_F(PeerStoreTest, sums_are_in_fp32) {
  const StoreCase of{.op = Op::gemm_reduce_scatter,
                     .ranks = 8,
                     .m = 1024,
                     .n = 256,
                     .k = 64,
                     .tile = {64, 64, 64, 4, 1},
                     .columns_a_group = 1};
  prepare(of);
  // A[row][0] = value, B[column][0] = 1, all else 0: each product is the value of its rank. Rank 0
  // has 256, the others have 1: in bf16, 256 + 1 is 256.
  for (int rank = 0; rank < of.ranks; ++rank) {
    std::vector<std::uint16_t> a(static_cast<std::size_t>(of.m * of.k), 0);
    std::vector<std::uint16_t> b(static_cast<std::size_t>(of.n * of.k), 0);
    constexpr std::uint16_t kOne = 0x3f80;
    constexpr std::uint16_t k256 = 0x4380;
    for (std::int64_t row = 0; row < of.m; ++row) {
      a[static_cast<std::size_t>(row * of.k)] = rank == 0 ? k256 : kOne;
    }
    for (std::int64_t row = 0; row < of.n; ++row) b[static_cast<std::size_t>(row * of.k)] = kOne;
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    OVT_CHECK(cudaMemcpy(own.a.get(), a.data(), bytes(of.m * of.k), cudaMemcpyHostToDevice));
    OVT_CHECK(cudaMemcpy(own.b.get(), b.data(), bytes(of.n * of.k), cudaMemcpyHostToDevice));
  }
  run(of);
  for (int rank = 0; rank < of.ranks; ++rank) {
    for (const std::uint16_t bits : result(of, rank))
      ASSERT_EQ(bf16(bits), 264);  // 256 + 7, rounded
  }
}

}  // namespace
}  // namespace overlaptune::run
