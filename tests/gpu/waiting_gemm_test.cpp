// Generated GEMMs that wait for rows of A, which copies bring while the GEMM runs.

#include <random>

#include "gpu.hpp"
#include "kernels/support.hpp"
#include "ranks_on_one_gpu.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "run/streams/stream_wait.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::run {
namespace {

/// Page-locked memory of the host, from where copies come by copy engines.
using HostMemory = Handle<void*, static_cast<cudaError_t (*)(void*)>(&cudaFreeHost)>;

struct Case {
  std::int64_t block_rows = 0;
  int blocks = 4;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
  Tile tile{};
  int swizzle = 1;
  int own_block = 0;
  int groups_a_block = 1;
  int sms = 64;
};

enum class Submit { call_by_call, graph };

enum class Flags {
  behind_copies,   ///< as they should be
  raised_at_once,  ///< a GEMM that does not wait for the rows
};

class WaitingGemmTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    int major = 0;
    OVT_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 9) GTEST_SKIP() << "no Hopper GPU";
  }

  /// The largest relative error of a segment of C; 1 where an element is not finite. Copies are
  /// delayed by random times.
  double error_of(GeneratedGemms& gemms, const Case& of, Flags flags = Flags::behind_copies,
                  Submit submit = Submit::call_by_call) {
    const Problem problem{.op = Op::all_gather_gemm,
                          .m = of.block_rows * of.blocks,
                          .n = of.n,
                          .k = of.k,
                          .elements = of.elements,
                          .ranks = of.blocks};
    const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(2 * elements); };
    const std::int64_t block = of.block_rows * of.k;
    const DeviceMemory all = device_memory(bytes(problem.m * of.k));
    const DeviceMemory gathered = device_memory(bytes(problem.m * of.k));
    const DeviceMemory own = device_memory(bytes(block));
    const DeviceMemory b = device_memory(bytes(of.n * of.k));
    const DeviceMemory c = device_memory(bytes(problem.m * of.n));
    OVT_CHECK(
        kernels::fill_normal(stream(), all.get(), operand_of(of.elements), problem.m * of.k, 1));
    OVT_CHECK(kernels::fill_normal(stream(), b.get(), operand_of(of.elements), of.n * of.k, 2));
    const auto part = [&](const DeviceMemory& memory, std::int64_t elements) {
      return static_cast<std::byte*>(memory.get()) + bytes(elements);
    };
    OVT_CHECK(cudaMemcpyAsync(own.get(), part(all, of.own_block * block), bytes(block),
                              cudaMemcpyDeviceToDevice, stream()));
    // Bits that are no number, where rows have not arrived and results are not stored.
    OVT_CHECK(cudaMemsetAsync(gathered.get(), 0xff, bytes(problem.m * of.k), stream()));
    OVT_CHECK(cudaMemsetAsync(c.get(), 0xff, bytes(problem.m * of.n), stream()));
    void* pinned = nullptr;
    OVT_CHECK(cudaMallocHost(&pinned, bytes(problem.m * of.k)));
    const HostMemory host(pinned);
    OVT_CHECK(cudaMemcpyAsync(pinned, all.get(), bytes(problem.m * of.k), cudaMemcpyDeviceToHost,
                              stream()));

    const ArrivalOrder order = arrival_order(problem, of.tile, of.swizzle);
    std::vector<Cut> cuts{arrival_cut(order, 1, 0)};
    const std::int64_t swizzles = order.block.swizzle_groups();
    for (int i = 1; i < of.blocks; ++i) {
      for (int group = 1; group <= of.groups_a_block; ++group) {
        const Cut cut = arrival_cut(order, i, group * swizzles / of.groups_a_block);
        if (cut.tiles > cuts.back().tiles) cuts.push_back(cut);
      }
    }
    const DeviceMemory raised = device_memory(cuts.size() * sizeof(std::uint32_t));
    auto* const flag = static_cast<std::uint32_t*>(raised.get());
    OVT_CHECK(cudaMemsetAsync(raised.get(), flags == Flags::raised_at_once ? 1 : 0,
                              cuts.size() * sizeof(std::uint32_t), stream()));
    const RanksOnOneGpu ranks(1);
    GeneratedRows rows{.own = own.get(), .own_block = of.own_block};
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      rows.arrivals.push_back({cuts[i].tiles, i == 0 ? nullptr : flag + i});
    }
    const TileOrder tiles = tile_order(problem, of.tile, of.swizzle);
    const GeneratedOperands operands{
        .a = gathered.get(),
        .b = b.get(),
        .k = of.k,
        .segments = {{.region = {.end = tiles.tiles(), .rows = of.block_rows, .columns = of.n},
                      .c = c.get(),
                      .row_stride = of.n,
                      .block_stride = of.block_rows * of.n}},
        .rows = rows,
        .barrier = ranks.barrier(0)};
    const auto gemm = gemms.gemm({.tile = of.tile,
                                  .elements = of.elements,
                                  .regions = static_cast<int>(cuts.size()),
                                  .waits = true});
    EXPECT_TRUE(gemm) << gemm.error().message;
    if (!gemm) return 1;
    const GeneratedLaunch launch = (*gemm)->prepare(tiles, {.sms = of.sms}, operands, nullptr);
    OVT_CHECK(cudaStreamSynchronize(stream()));

    const Stream copies = make_stream(Priority::high);
    const Event fork = make_event(false);
    const Event join = make_event(false);
    const std::vector<ArrivingRows> arriving = arriving_rows(order, cuts);
    const auto all_work = [&](cudaStream_t on) {
      OVT_CHECK(cudaEventRecord(fork.get(), on));
      OVT_CHECK(cudaStreamWaitEvent(copies.get(), fork.get(), 0));
      for (std::size_t i = 1; i < cuts.size(); ++i) {
        const std::int64_t source = (of.own_block + of.blocks - arriving[i].block) % of.blocks;
        const std::int64_t at = source * block + arriving[i].first_row * of.k;
        OVT_CHECK(kernels::spin(copies.get(), static_cast<std::int64_t>(random_() % 100'000)));
        OVT_CHECK(cudaMemcpyAsync(part(gathered, at), static_cast<std::byte*>(pinned) + bytes(at),
                                  bytes(arriving[i].rows * of.k), cudaMemcpyHostToDevice,
                                  copies.get()));
        MemoryOperations raise;
        raise.write(flag + i, 1);
        raise.enqueue(copies.get());
      }
      (*gemm)->enqueue(on, launch);
      OVT_CHECK(cudaEventRecord(join.get(), copies.get()));
      OVT_CHECK(cudaStreamWaitEvent(on, join.get(), 0));
    };
    if (submit == Submit::graph) {
      const GraphExec exec = instantiated(captured(stream(), all_work));
      OVT_CHECK(cudaGraphLaunch(exec.get(), stream()));
      OVT_CHECK(cudaStreamSynchronize(stream()));  // before the graph is gone
    } else {
      all_work(stream());
    }
    OVT_CHECK(cudaStreamSynchronize(stream()));
    return deviation(problem, all.get(), b.get(), c.get());
  }

  double deviation(const Problem& problem, const void* a, const void* b, const void* c) {
    const DeviceMemory sums = device_memory(static_cast<std::size_t>(problem.m * problem.n) * 8);
    const DeviceMemory seen = device_memory(sizeof(kernels::Deviation));
    std::vector<std::int64_t> every(static_cast<std::size_t>(problem.m));
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int64_t>(i);
    const DeviceMemory list = device_memory(every.size() * 8);
    OVT_CHECK(cudaMemcpy(list.get(), every.data(), every.size() * 8, cudaMemcpyHostToDevice));
    OVT_CHECK(cudaMemsetAsync(sums.get(), 0, static_cast<std::size_t>(problem.m * problem.n) * 8,
                              stream()));
    OVT_CHECK(cudaMemsetAsync(seen.get(), 0, sizeof(kernels::Deviation), stream()));
    OVT_CHECK(kernels::add_products(stream(), a, b, static_cast<double*>(sums.get()),
                                    operand_of(problem.elements), problem.m, problem.n, problem.k));
    OVT_CHECK(kernels::compare(stream(), c, problem.m * problem.n, result_of(problem.elements),
                               static_cast<double*>(sums.get()),
                               static_cast<std::int64_t*>(list.get()), problem.m, problem.n,
                               static_cast<kernels::Deviation*>(seen.get())));
    const auto found = on_host<kernels::Deviation>(seen.get(), 1).front();
    return found.not_finite > 0 ? 1 : found.largest;
  }

  std::mt19937 random_{1};
};

constexpr double kBf16 = 1.0 / 256;
constexpr double kFp16 = 1.0 / 2048;

TEST_F(WaitingGemmTest, every_kind_of_tile_waits) {
  GeneratedGemms gemms;
  Case of{.block_rows = 640, .n = 1096, .k = 328, .swizzle = 2, .groups_a_block = 2};
  for (const Tile& tile :
       {Tile{64, 256, 64, 4, 1}, Tile{128, 256, 64, 4, 1}, Tile{192, 192, 64, 4, 1},
        Tile{256, 192, 64, 3, 1}, Tile{128, 96, 64, 6, 1}, Tile{128, 256, 64, 4, 2},
        Tile{64, 128, 64, 6, 2}, Tile{256, 112, 64, 4, 2}, Tile{192, 208, 64, 3, 2},
        Tile{144, 128, 64, 5, 1}, Tile{160, 256, 64, 4, 2}}) {
    of.tile = tile;
    of.own_block = (of.own_block + 1) % of.blocks;
    EXPECT_LT(error_of(gemms, of), kBf16) << to_string(tile);
  }
  // Tiles of the two CTAs of a cluster belong to different row blocks.
  EXPECT_LT(error_of(gemms, {.block_rows = 384,
                             .blocks = 5,
                             .n = 640,
                             .k = 808,
                             .tile = {128, 128, 64, 4, 2},
                             .own_block = 3,
                             .groups_a_block = 3,
                             .sms = 8}),
            kBf16);
  // Two CTAs share a tile.
  EXPECT_LT(error_of(gemms, {.block_rows = 128,
                             .blocks = 2,
                             .n = 1280,
                             .k = 8192,
                             .tile = {128, 128, 64, 4, 1},
                             .own_block = 1,
                             .sms = 132}),
            kBf16);
}

TEST_F(WaitingGemmTest, a_wait_that_is_skipped_is_seen) {
  GeneratedGemms gemms;
  const Case of{.block_rows = 1024,
                .n = 1024,
                .k = 1024,
                .tile = {128, 128, 64, 3, 1},
                .own_block = 1,
                .sms = 128};
  EXPECT_EQ(error_of(gemms, of, Flags::raised_at_once), 1);
  EXPECT_LT(error_of(gemms, of), kBf16);
}

TEST_F(WaitingGemmTest, delays_change_no_result) {
  GeneratedGemms gemms;
  for (int i = 0; i < 100; ++i) {
    EXPECT_LT(error_of(gemms,
                       {.block_rows = 256,
                        .blocks = 2 + i % 7,
                        .n = 256,
                        .k = 256,
                        .tile = {128, 128, 64, 3, 1},
                        .own_block = i % (2 + i % 7),
                        .groups_a_block = 1 + i % 2,
                        .sms = 8 + i},
                       Flags::behind_copies, i % 4 < 2 ? Submit::graph : Submit::call_by_call),
              kBf16);
  }
}

}  // namespace
}  // namespace overlaptune::run
