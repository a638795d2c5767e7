#include "run/gemm/generated_gemm.hpp"

#include "gpu.hpp"
#include "kernels/support.hpp"

namespace overlaptune::run {
namespace {

struct Shape {
  std::int64_t rows = 0;  ///< of one block
  int blocks = 1;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
};

class GeneratedGemmTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    OVT_CHECK(cudaDeviceGetAttribute(&major_, cudaDevAttrComputeCapabilityMajor, 0));
    if (major_ < 8) GTEST_SKIP() << "older than Ampere";
  }

  /// The largest relative error of a segment; the counters of the groups are checked, too.
  double error_of(GeneratedGemms& gemms, const Shape& shape, const Tile& tile, int swizzle,
                  std::size_t most_groups, const Crew& crew = {.sms = 64}) {
    const std::int64_t rows = shape.rows * shape.blocks;
    const DeviceMemory a = device_memory(static_cast<std::size_t>(rows * shape.k) * 2);
    const DeviceMemory b = device_memory(static_cast<std::size_t>(shape.n * shape.k) * 2);
    const DeviceMemory c = device_memory(static_cast<std::size_t>(rows * shape.n) * 2);
    const DeviceMemory scales = device_memory(static_cast<std::size_t>(rows + shape.n) * 4);
    auto* const a_scales = static_cast<float*>(scales.get());
    float* const b_scales = a_scales + rows;
    const bool scaled = is_scaled(shape.elements);
    OVT_CHECK(kernels::fill_scales(stream(), a_scales, nullptr, rows, 3));
    OVT_CHECK(kernels::fill_scales(stream(), b_scales, nullptr, shape.n, 4));
    const DeviceMemory sums = device_memory(static_cast<std::size_t>(rows * shape.n) * 8);
    const DeviceMemory deviation = device_memory(sizeof(kernels::Deviation));
    const DeviceMemory counters = device_memory(most_groups * sizeof(std::uint32_t));
    std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const DeviceMemory list = device_memory(all.size() * 8);
    OVT_CHECK(cudaMemcpy(list.get(), all.data(), all.size() * 8, cudaMemcpyHostToDevice));
    OVT_CHECK(
        kernels::fill_normal(stream(), a.get(), operand_of(shape.elements), rows * shape.k, 1));
    OVT_CHECK(
        kernels::fill_normal(stream(), b.get(), operand_of(shape.elements), shape.n * shape.k, 2));
    OVT_CHECK(
        cudaMemsetAsync(sums.get(), 0, static_cast<std::size_t>(rows * shape.n) * 8, stream()));
    OVT_CHECK(kernels::add_products(stream(), a.get(), b.get(), static_cast<double*>(sums.get()),
                                    operand_of(shape.elements), rows, shape.n, shape.k,
                                    scaled ? a_scales : nullptr, scaled ? b_scales : nullptr,
                                    scales_of(shape.elements) == Scales::rows));

    const TileOrder order{.block_rows = shape.rows,
                          .n = shape.n,
                          .blocks = shape.blocks,
                          .block_m = tile.block_m,
                          .block_n = tile.block_n,
                          .swizzle = swizzle,
                          .elements = shape.elements};
    GeneratedOperands operands{.a = a.get(), .b = b.get(), .k = shape.k};
    if (scaled) operands.scales = {a_scales, b_scales};
    std::int64_t end = 0;
    std::int64_t first_row = 0;
    for (std::int64_t i = 0; i < order.swizzle_groups(); ++i) {
      end += order.column_tiles(i) * order.columns();
      const std::int64_t group_rows = order.rows(i) / shape.blocks;
      if (operands.segments.size() < most_groups) {
        operands.segments.push_back(
            {.region = {.first_row = first_row, .columns = shape.n},
             .counter = static_cast<int>(operands.segments.size()),
             .c = static_cast<std::uint16_t*>(c.get()) + first_row * shape.n,
             .row_stride = shape.n,
             .block_stride = shape.rows * shape.n});
      }
      operands.segments.back().region.end = end;
      operands.segments.back().region.rows += group_rows;
      first_row += group_rows;
    }
    const auto gemm = gemms.gemm({.tile = tile,
                                  .elements = shape.elements,
                                  .regions = static_cast<int>(operands.segments.size())});
    EXPECT_TRUE(gemm) << gemm.error().message;
    if (!gemm) return 1;
    OVT_CHECK(
        cudaMemsetAsync(c.get(), 0xff, static_cast<std::size_t>(rows * shape.n) * 2, stream()));
    OVT_CHECK(cudaMemsetAsync(counters.get(), 0, most_groups * sizeof(std::uint32_t), stream()));
    (*gemm)->enqueue(stream(), (*gemm)->prepare(order, crew, operands,
                                                static_cast<std::uint32_t*>(counters.get())));
    OVT_CHECK(cudaMemsetAsync(deviation.get(), 0, sizeof(kernels::Deviation), stream()));
    OVT_CHECK(kernels::compare(stream(), c.get(), rows * shape.n, result_of(shape.elements),
                               static_cast<double*>(sums.get()),
                               static_cast<std::int64_t*>(list.get()), rows, shape.n,
                               static_cast<kernels::Deviation*>(deviation.get())));
    const auto counted = on_host<std::uint32_t>(counters.get(), operands.segments.size());
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      EXPECT_EQ(counted[i], static_cast<std::uint32_t>((operands.segments[i].region.end - begin) *
                                                       (*gemm)->signals_a_tile()));
      begin = operands.segments[i].region.end;
    }
    const auto seen = on_host<kernels::Deviation>(deviation.get(), 1).front();
    EXPECT_EQ(seen.not_finite, 0U);
    return seen.largest;
  }

  int major_ = 0;
};

constexpr double kBf16 = 1.0 / 256;
constexpr double kFp16 = 1.0 / 2048;

TEST_F(GeneratedGemmTest, every_kind_of_tile_is_right_on_hopper) {
  if (major_ != 9) GTEST_SKIP() << "no Hopper GPU";
  GeneratedGemms gemms;
  const Shape shape{.rows = 640, .n = 1096, .k = 328};
  for (const Tile& tile :
       {Tile{64, 256, 64, 4, 1},  Tile{128, 256, 64, 4, 1}, Tile{192, 192, 64, 4, 1},
        Tile{256, 192, 64, 3, 1}, Tile{256, 16, 64, 5, 1},  Tile{128, 96, 64, 6, 1},
        Tile{128, 80, 64, 7, 1},  Tile{128, 256, 64, 3, 1}, Tile{128, 256, 64, 4, 2},
        Tile{64, 128, 64, 6, 2},  Tile{256, 112, 64, 4, 2}, Tile{192, 256, 64, 3, 1},
        Tile{192, 208, 64, 3, 2}, Tile{192, 240, 64, 3, 1}, Tile{160, 256, 64, 4, 2},
        Tile{112, 128, 64, 7, 1}, Tile{256, 160, 64, 4, 2}, Tile{240, 192, 64, 3, 1},
        Tile{208, 192, 64, 3, 2}, Tile{176, 64, 64, 6, 2},  Tile{16, 256, 64, 5, 1}}) {
    EXPECT_LT(error_of(gemms, shape, tile, 2, 1), kBf16) << to_string(tile);
  }
  // 5 tiles to a column and 9 columns: on 8 SMs every CTA has several tiles, clusters of two share
  // a column or do not in turn, the 45th tile has no partner, and 13 steps end in the midst of a
  // ring.
  EXPECT_LT(
      error_of(gemms, {.rows = 1200, .n = 1096, .k = 808}, {256, 128, 64, 4, 2}, 5, 16, {.sms = 8}),
      kBf16);
  EXPECT_LT(
      error_of(gemms, {.rows = 1200, .n = 1096, .k = 808}, {256, 128, 64, 4, 1}, 3, 16, {.sms = 7}),
      kBf16);
  EXPECT_LT(
      error_of(gemms, {.rows = 1200, .n = 1096, .k = 808}, {208, 128, 64, 4, 2}, 3, 16, {.sms = 8}),
      kBf16);
}

/// 8-bit operands: all kinds of tiles, ends of rows in the midst of a step, several row blocks with
/// scales of their own, CTAs that share a tile. One scale for each matrix is the first of many.
TEST_F(GeneratedGemmTest, operands_of_8_bits_are_scaled_on_hopper) {
  if (major_ != 9) GTEST_SKIP() << "no Hopper GPU";
  GeneratedGemms gemms;
  for (const Elements elements :
       {Elements::e4m3_rows_bf16, Elements::e4m3_tensor_fp16, Elements::e4m3_rows_bf16_exact}) {
    for (const Tile& tile :
         {Tile{64, 256, 128, 4, 1}, Tile{128, 256, 128, 3, 2}, Tile{192, 160, 128, 3, 1},
          Tile{256, 112, 128, 3, 1}, Tile{128, 128, 128, 5, 1}, Tile{128, 80, 128, 7, 1},
          Tile{80, 64, 128, 6, 1}, Tile{144, 192, 128, 3, 2}, Tile{128, 192, 128, 4, 1},
          Tile{192, 128, 128, 4, 2}, Tile{256, 96, 128, 3, 1}, Tile{256, 16, 128, 5, 1},
          Tile{192, 96, 128, 4, 2}, Tile{176, 128, 128, 3, 1}, Tile{256, 128, 128, 3, 2}}) {
      // Exact sums leave no room for some.
      if (is_exact(elements) && !is_feasible(tile, gpu_limits(90), elements)) continue;
      const std::string name(to_string(tile) + " " + std::string(to_string(elements)));
      for (const std::int64_t k : {16, 144, 656}) {
        const Shape shape{.rows = 300, .blocks = 2, .n = 1104, .k = k, .elements = elements};
        EXPECT_LT(error_of(gemms, shape, tile, 2, 16, {.sms = 22}), kBf16) << name << " k " << k;
      }
      const Shape shared{.rows = 130, .n = 256, .k = 2048, .elements = elements};
      EXPECT_LT(error_of(gemms, shared, tile, 1, 16, {.sms = 128}), kBf16) << name;
    }
  }
}

/// Over many steps the sums that tensor cores keep lose bits of an fp16 result; exact ones do not.
TEST_F(GeneratedGemmTest, exact_sums_of_8_bit_products_keep_their_bits) {
  if (major_ != 9) GTEST_SKIP() << "no Hopper GPU";
  GeneratedGemms gemms;
  Shape shape{.rows = 256, .n = 512, .k = 16384, .elements = Elements::e4m3_tensor_fp16};
  for (const Tile& tile : {Tile{128, 128, 128, 4, 1}, Tile{64, 192, 128, 4, 1},
                           Tile{192, 96, 128, 4, 1}, Tile{256, 128, 128, 3, 1}}) {
    shape.elements = Elements::e4m3_tensor_fp16;
    const double fast = error_of(gemms, shape, tile, 1, 16);
    shape.elements = Elements::e4m3_tensor_fp16_exact;
    const double exact = error_of(gemms, shape, tile, 1, 16);
    EXPECT_LT(exact, kFp16) << to_string(tile);
    EXPECT_LT(exact, fast) << to_string(tile);
  }
}

/// The consumers of these tiles take turns. A CTA has an odd number of tiles, an even one, one or
/// none; a tile takes fewer steps than the ring has stages, as many, or many more.
TEST_F(GeneratedGemmTest, consumers_take_turns) {
  if (major_ != 9) GTEST_SKIP() << "no Hopper GPU";
  GeneratedGemms gemms;
  for (const Tile& tile :
       {Tile{64, 256, 64, 3, 1}, Tile{64, 192, 64, 4, 2}, Tile{128, 192, 64, 5, 1},
        Tile{128, 192, 64, 4, 2}, Tile{128, 128, 64, 6, 2}, Tile{128, 16, 64, 7, 1},
        Tile{192, 128, 64, 5, 1}, Tile{192, 64, 64, 3, 2}, Tile{256, 96, 64, 3, 1},
        Tile{144, 128, 64, 5, 2}, Tile{80, 64, 64, 6, 1}, Tile{96, 256, 64, 3, 1}}) {
    for (const std::int64_t k : {8, 200, 320, 384, 2056}) {
      for (const int sms : {2, 8, 22}) {
        EXPECT_LT(error_of(gemms, {.rows = 900, .n = 776, .k = k}, tile, 3, 16, {.sms = sms}),
                  kBf16)
            << to_string(tile) << ", k = " << k << ", " << sms << " SMs";
      }
    }
  }
}

/// Few tiles and many steps: with odd numbers of steps and of subtiles, with groups, with row
/// blocks, and with SMs that are left to others.
TEST_F(GeneratedGemmTest, two_ctas_share_a_tile_where_half_of_the_sms_were_idle) {
  if (major_ != 9) GTEST_SKIP() << "no Hopper GPU";
  GeneratedGemms gemms;
  for (const Tile& tile :
       {Tile{64, 256, 64, 4, 1}, Tile{128, 256, 64, 3, 1}, Tile{256, 192, 64, 3, 1},
        Tile{256, 16, 64, 5, 1}, Tile{128, 96, 64, 6, 1}, Tile{128, 80, 64, 7, 1},
        Tile{64, 240, 64, 3, 1}, Tile{256, 64, 64, 3, 1}, Tile{112, 128, 64, 6, 1},
        Tile{160, 256, 64, 4, 1}, Tile{80, 64, 64, 3, 1}}) {
    for (const Shape& shape : {Shape{.rows = 200, .n = 424, .k = 1032},
                               Shape{.rows = 130, .blocks = 2, .n = 256, .k = 2048},
                               Shape{.rows = 7, .n = 520, .k = 4096, .elements = Elements::fp16}}) {
      const Crew crew{.sms = 128, .leaving = 16, .early = 2};
      const TileOrder order{shape.rows, shape.n, shape.blocks, tile.block_m, tile.block_n, 1};
      if (2 * order.tiles() > crew.sms - crew.leaving) continue;
      ASSERT_EQ(ctas_per_tile(order, tile, shape.k, 112, gpu_limits(90)), 2);
      EXPECT_LT(error_of(gemms, shape, tile, 1, 16, crew),
                shape.elements == Elements::bf16 ? kBf16 : kFp16)
          << to_string(tile) << ", " << shape.rows << " rows";
    }
  }
}

TEST_F(GeneratedGemmTest, every_kind_of_tile_is_right_with_mma_sync) {
  GeneratedGemms gemms(KernelFamily::portable);
  const Shape shape{.rows = 640, .n = 1096, .k = 328};
  for (const Tile& tile :
       {Tile{64, 64, 64, 3, 1}, Tile{64, 16, 64, 3, 1}, Tile{128, 128, 64, 3, 1},
        Tile{128, 80, 64, 3, 1}, Tile{192, 64, 64, 3, 1}, Tile{64, 176, 64, 3, 1}}) {
    EXPECT_LT(error_of(gemms, shape, tile, 2, 1), kBf16) << to_string(tile);
  }
}

/// Every tile is stored once, whichever CTAs leave and when: the counters and the sums show it.
TEST_F(GeneratedGemmTest, the_others_compute_what_the_leaving_do_not) {
  const Shape shape{.rows = 640, .n = 520, .k = 136};  // 45 tiles of 128 x 64
  for (const KernelFamily family : {KernelFamily::best, KernelFamily::portable}) {
    GeneratedGemms gemms(family);
    for (const int cluster : {1, 2}) {
      if (cluster == 2 && (family == KernelFamily::portable || major_ != 9)) continue;
      const Tile tile{128, 64, 64, 3, cluster};
      for (const Crew& crew :
           {Crew{12, 4, 0}, Crew{12, 4, 3}, Crew{12, 4, 12}, Crew{12, 4, 15}, Crew{12, 4, 29},
            Crew{12, 10, 26}, Crew{12, 3, 40}, Crew{12, 4, 45}, Crew{60, 20, 7}, Crew{48, 4, 20},
            Crew{.sms = 12, .persistent = false}}) {
        EXPECT_LT(error_of(gemms, shape, tile, 2, 16, crew), kBf16)
            << to_string(tile) << " cluster " << cluster << ": " << crew.sms << " SMs, "
            << crew.leaving << " leave after " << crew.early << " tiles";
      }
    }
  }
}

TEST_F(GeneratedGemmTest, groups_of_row_blocks_are_counted) {
  for (const KernelFamily family : {KernelFamily::best, KernelFamily::portable}) {
    GeneratedGemms gemms(family);
    EXPECT_LT(error_of(gemms, {.rows = 300, .blocks = 4, .n = 512, .k = 256}, {128, 128, 64, 3, 1},
                       1, 16),
              kBf16);
    EXPECT_LT(error_of(gemms, {.rows = 1000, .n = 520, .k = 72, .elements = Elements::fp16},
                       {64, 64, 64, 3, 1}, 3, 16),
              kFp16);
  }
}

}  // namespace
}  // namespace overlaptune::run
