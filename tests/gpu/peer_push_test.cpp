// Pushes by peer access, and GEMMs that wait for their rows: all ranks on one GPU, each on streams
// of its own.

#include "kernels/peer_push.hpp"

#include <random>

#include "core/arrivals.hpp"
#include "gpu.hpp"
#include "kernels/support.hpp"
#include "run/generated_gemm.hpp"

namespace overlaptune::run {
namespace {

using kernels::PeerPush;
using kernels::PeerWords;
using kernels::PushedRows;

struct Shape {
  int ranks = 0;
  std::int64_t block_rows = 0;
  std::int64_t row_bytes = 0;
};

class PeerPushTest : public GpuTest {
 protected:
  /// Allocates matrices of all row blocks, and words, for all ranks.
  void allocate(const Shape& shape) {
    memory_.clear();
    streams_.clear();
    push_ = {.ranks = shape.ranks, .row_bytes = shape.row_bytes, .block_rows = shape.block_rows};
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      push_.matrices[r] = filled(matrix_bytes(), 0xff);
      push_.words[r] = static_cast<std::uint32_t*>(filled(PeerWords::kCount * 4, 0));
      streams_.push_back(make_stream(Priority::high));
    }
  }

  void* filled(std::size_t bytes, int value) {
    memory_.push_back(device_memory(bytes));
    OVT_CHECK(cudaMemset(memory_.back().get(), value, bytes));
    return memory_.back().get();
  }

  [[nodiscard]] std::size_t block_bytes() const {
    return static_cast<std::size_t>(push_.block_rows * push_.row_bytes);
  }
  [[nodiscard]] std::size_t matrix_bytes() const {
    return block_bytes() * static_cast<std::size_t>(push_.ranks);
  }

  /// Pushes the pieces of every rank, and waits for the end.
  void push_all(const std::vector<void*>& sources, std::span<const PushedRows> pieces, int ctas) {
    OVT_CHECK(cudaDeviceSynchronize());
    for (int rank = 0; rank < push_.ranks; ++rank) {
      push_.rank = rank;
      push_.source = sources[static_cast<std::size_t>(rank)];
      kernels::push(streams_[static_cast<std::size_t>(rank)].get(), push_, pieces, ctas);
      OVT_CHECK(cudaGetLastError());
    }
    for (const Stream& each : streams_) OVT_CHECK(cudaStreamSynchronize(each.get()));
  }

  PeerPush push_{};
  std::vector<DeviceMemory> memory_{};
  std::vector<Stream> streams_{};
  std::mt19937 random_{3};
};

TEST_F(PeerPushTest, every_row_comes_to_all_ranks) {
  for (const Shape& shape :
       {Shape{2, 1, 16}, Shape{2, 1000, 2064}, Shape{3, 37, 48}, Shape{8, 129, 1024}}) {
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
      const PushedRows whole{.rows = static_cast<std::int32_t>(shape.block_rows)};
      push_all(sources, std::span(&whole, 1), 1 + 3 * round);
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

TEST_F(PeerPushTest, pieces_go_to_one_rank_each_and_are_counted_there) {
  const Shape shape{4, 100, 4096};
  allocate(shape);
  std::vector<void*> sources;
  for (int rank = 0; rank < shape.ranks; ++rank) sources.push_back(filled(block_bytes(), 1 + rank));
  // The next rank gets rows 10 to 29, the one after it all rows, in two pieces.
  const std::vector<PushedRows> pieces{{.first_row = 10, .rows = 20, .turn = 1, .counter = 5},
                                       {.first_row = 0, .rows = 64, .turn = 2, .counter = 1},
                                       {.first_row = 64, .rows = 36, .turn = 2, .counter = 2}};
  constexpr int kCtas = 3;
  push_all(sources, pieces, kCtas);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto found = on_host<std::uint8_t>(push_.matrices[r], matrix_bytes());
    std::vector<std::uint8_t> expected(matrix_bytes(), 0xff);
    const auto write = [&](int from, std::int64_t first, std::int64_t rows) {
      const std::int64_t begin = (from * shape.block_rows + first) * shape.row_bytes;
      std::fill_n(expected.begin() + begin, rows * shape.row_bytes,
                  static_cast<std::uint8_t>(1 + from));
    };
    write((rank + 3) % 4, 10, 20);
    write((rank + 2) % 4, 0, 100);
    EXPECT_EQ(found, expected) << rank;
    const auto words = on_host<std::uint32_t>(push_.words[r], PeerWords::kCount);
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i], i == 1 || i == 2 || i == 5 ? kCtas : 0) << "word " << i;
    }
  }
}

/// A rank of a problem whose GEMM waits for pushed rows.
struct Rank {
  void* a = nullptr;
  void* gathered = nullptr;
  void* c = nullptr;
  GeneratedLaunch launch{};
};

TEST_F(PeerPushTest, gemms_of_all_ranks_wait_for_the_rows_of_the_others) {
  int major = 0;
  OVT_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 8) GTEST_SKIP() << "older than Ampere";
  constexpr int kCtas = 4;
  constexpr std::int64_t kN = 384;
  constexpr std::int64_t kK = 512;
  GeneratedGemms gemms;
  for (const int ranks : {2, 4}) {
    const Problem problem{.op = Op::all_gather_gemm,
                          .m = ranks * 512,
                          .n = kN,
                          .k = kK,
                          .dtype = Dtype::bf16,
                          .ranks = ranks};
    const Tile tile{128, 128, 64, 3, 1};
    allocate({.ranks = ranks, .block_rows = 512, .row_bytes = 2 * kK});
    const ArrivalOrder order = arrival_order(problem, tile, 2);
    std::vector<Cut> cuts{arrival_cut(order, 1, 0)};
    for (int block = 1; block < ranks; ++block) {
      for (int i = 1; i <= 2; ++i) cuts.push_back(arrival_cut(order, block, i));
    }
    const std::vector<ArrivingRows> rows = arriving_rows(order, cuts);
    std::vector<PushedRows> pieces;
    for (std::size_t group = 1; group < rows.size(); ++group) {
      pieces.push_back({.first_row = static_cast<std::int32_t>(rows[group].first_row),
                        .rows = static_cast<std::int32_t>(rows[group].rows),
                        .turn = rows[group].block,
                        .counter = static_cast<std::int32_t>(group)});
    }
    const auto gemm = gemms.gemm({.tile = tile,
                                  .dtype = problem.dtype,
                                  .regions = static_cast<int>(cuts.size()),
                                  .waits = true});
    ASSERT_TRUE(gemm) << gemm.error().message;
    const TileOrder tiles = tile_order(problem, tile, 2);
    auto* const all_of_a = static_cast<std::byte*>(filled(matrix_bytes(), 0));
    void* const b = filled(2 * kN * kK, 0);
    OVT_CHECK(kernels::fill_normal(stream(), all_of_a, problem.dtype, problem.m * kK, 1));
    OVT_CHECK(kernels::fill_normal(stream(), b, problem.dtype, kN * kK, 2));
    std::vector<Rank> all;
    std::vector<Stream> gemm_streams;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      Rank& each = all.emplace_back();
      each.a = all_of_a + r * block_bytes();
      each.c = filled(static_cast<std::size_t>(2 * problem.m * kN), 0xff);
      GeneratedRows waits{.own = each.a, .own_block = rank};
      for (std::size_t group = 0; group < cuts.size(); ++group) {
        waits.arrivals.push_back({.end = cuts[group].tiles,
                                  .counter = group == 0 ? nullptr : push_.words[r] + group,
                                  .value = kCtas});
      }
      each.launch = (*gemm)->prepare(
          tiles, {.sms = 16},
          {.a = push_.matrices[r],
           .b = b,
           .k = kK,
           .segments = {{.region = {.end = tiles.tiles(), .rows = 512, .columns = kN},
                         .c = each.c,
                         .row_stride = kN,
                         .block_stride = 512 * kN}},
           .rows = waits},
          nullptr);
      gemm_streams.push_back(make_stream());
    }
    // A kernel that is loaded at its first launch would wait for the GEMMs.
    OVT_CHECK(kernels::spin(stream(), 0));
    OVT_CHECK(cudaDeviceSynchronize());
    // Each GEMM is there before the rows that it waits for: they are sent last, and late.
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      (*gemm)->enqueue(gemm_streams[r].get(), all[r].launch);
    }
    for (int rank = ranks; rank-- > 0;) {
      const auto r = static_cast<std::size_t>(rank);
      push_.rank = rank;
      push_.source = all[r].a;
      OVT_CHECK(kernels::spin(streams_[r].get(), static_cast<std::int64_t>(random_() % 500'000)));
      kernels::push(streams_[r].get(), push_, pieces, kCtas);
      OVT_CHECK(cudaGetLastError());
    }
    OVT_CHECK(cudaDeviceSynchronize());
    const auto elements = static_cast<std::size_t>(problem.m * kN);
    std::vector<std::int64_t> every(static_cast<std::size_t>(problem.m));
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int64_t>(i);
    const DeviceMemory list = device_memory(every.size() * 8);
    const DeviceMemory sums = device_memory(elements * 8);
    const DeviceMemory seen = device_memory(sizeof(kernels::Deviation));
    OVT_CHECK(cudaMemcpy(list.get(), every.data(), every.size() * 8, cudaMemcpyHostToDevice));
    OVT_CHECK(cudaMemset(sums.get(), 0, elements * 8));
    OVT_CHECK(kernels::add_products(stream(), all_of_a, b, static_cast<double*>(sums.get()),
                                    problem.dtype, problem.m, kN, kK));
    for (const Rank& each : all) {
      OVT_CHECK(cudaMemsetAsync(seen.get(), 0, sizeof(kernels::Deviation), stream()));
      OVT_CHECK(kernels::compare(stream(), each.c, problem.m * kN, problem.dtype,
                                 static_cast<double*>(sums.get()),
                                 static_cast<std::int64_t*>(list.get()), problem.m, kN,
                                 static_cast<kernels::Deviation*>(seen.get())));
      const auto found = on_host<kernels::Deviation>(seen.get(), 1).front();
      EXPECT_EQ(found.not_finite, 0u) << ranks;
      EXPECT_LT(found.largest, 1.0 / 256) << ranks;
    }
  }
}

}  // namespace
}  // namespace overlaptune::run
