#include "run/gemm/gemm.hpp"

#include "gpu.hpp"
#include "kernels/support.hpp"

namespace overlaptune::run {
namespace {

/// A world of one rank.
class LibraryGemm : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ncclUniqueId id{};
    OVT_CHECK(ncclGetUniqueId(&id));
    world_ = std::make_unique<World>(id, 0, 1, WorldOptions{});
    library_ = std::make_unique<GemmLibrary>(*world_);
  }

  ScaleOperands scales_on(const DeviceMemory& a, const DeviceMemory& b, const GemmShape& shape) {
    if (!is_scaled(shape.elements)) return {};
    auto* const of_a = static_cast<float*>(a.get());
    auto* const of_b = static_cast<float*>(b.get());
    const cudaStream_t on = world_->stream();
    OVT_CHECK(kernels::fill_scales(on, of_a, nullptr,
                                   scale_count(shape.elements, shape.m * shape.batch), 3));
    OVT_CHECK(kernels::fill_scales(on, of_b, nullptr, scale_count(shape.elements, shape.n), 4));
    return {of_a, of_b};
  }

  /// The largest relative error of a segment, of all rows. The algorithm is chosen for operands as
  /// CUDA allocates them, and runs on operands that begin `off` bytes later.
  double error_of(const GemmShape& shape, std::size_t off = 0) {
    const std::int64_t rows = shape.m * shape.batch;
    const DeviceMemory a_memory = device_memory(static_cast<std::size_t>(rows * shape.k) * 2 + off);
    const DeviceMemory b_memory =
        device_memory(static_cast<std::size_t>(shape.n * shape.k) * 2 + off);
    const DeviceMemory c_memory = device_memory(static_cast<std::size_t>(rows * shape.n) * 2 + off);
    const auto later = [off](const DeviceMemory& memory) -> void* {
      return static_cast<std::byte*>(memory.get()) + off;
    };
    void* const a = later(a_memory);
    void* const b = later(b_memory);
    void* const c = later(c_memory);
    const DeviceMemory a_scales = device_memory(static_cast<std::size_t>(rows) * 4);
    const DeviceMemory b_scales = device_memory(static_cast<std::size_t>(shape.n) * 4);
    const ScaleOperands scales = scales_on(a_scales, b_scales, shape);
    const DeviceMemory sums = device_memory(static_cast<std::size_t>(rows * shape.n) * 8);
    const DeviceMemory deviation = device_memory(sizeof(kernels::Deviation));
    std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const DeviceMemory list = device_memory(all.size() * 8);
    OVT_CHECK(cudaMemcpy(list.get(), all.data(), all.size() * 8, cudaMemcpyHostToDevice));
    const cudaStream_t on = world_->stream();
    const GemmOperands aligned{a_memory.get(), b_memory.get(), c_memory.get(), scales};
    const GemmChoice choice = value_or_throw(library_->choose(shape, std::span(&aligned, 1)));
    OVT_CHECK(kernels::fill_normal(on, a, operand_of(shape.elements), rows * shape.k, 1));
    OVT_CHECK(kernels::fill_normal(on, b, operand_of(shape.elements), shape.n * shape.k, 2));
    OVT_CHECK(cudaMemsetAsync(sums.get(), 0, static_cast<std::size_t>(rows * shape.n) * 8, on));
    OVT_CHECK(kernels::add_products(on, a, b, static_cast<double*>(sums.get()),
                                    operand_of(shape.elements), rows, shape.n, shape.k, scales.a,
                                    scales.b, scales_of(shape.elements) == Scales::rows));
    const GemmOperands operands{a, b, c, scales};
    OVT_CHECK(cudaMemsetAsync(c, 0xff, static_cast<std::size_t>(rows * shape.n) * 2, on));
    library_->enqueue(on, shape, choice, operands);
    OVT_CHECK(cudaMemsetAsync(deviation.get(), 0, sizeof(kernels::Deviation), on));
    OVT_CHECK(kernels::compare(on, c, rows * shape.n, result_of(shape.elements),
                               static_cast<double*>(sums.get()),
                               static_cast<std::int64_t*>(list.get()), rows, shape.n,
                               static_cast<kernels::Deviation*>(deviation.get())));
    OVT_CHECK(cudaStreamSynchronize(on));
    const auto seen = on_host<kernels::Deviation>(deviation.get(), 1).front();
    EXPECT_EQ(seen.not_finite, 0U);
    return seen.largest;
  }

  std::unique_ptr<World> world_{};
  std::unique_ptr<GemmLibrary> library_{};
};

TEST_F(LibraryGemm, is_right_in_both_types) {
  EXPECT_LT(error_of({.m = 512, .n = 1024, .k = 768}), 1.0 / 256);
  EXPECT_LT(error_of({.m = 512, .n = 1024, .k = 768, .elements = Elements::fp16}), 1.0 / 2048);
}

/// Sums of 8-bit products have fewer bits: their error is larger than that of the result's
/// rounding.
TEST_F(LibraryGemm, is_right_with_scales) {
  for (const Elements elements :
       {Elements::e4m3_rows_bf16, Elements::e4m3_rows_fp16, Elements::e4m3_tensor_bf16,
        Elements::e4m3_tensor_fp16, Elements::e4m3_rows_bf16_exact, Elements::e4m3_rows_fp16_exact,
        Elements::e4m3_tensor_bf16_exact, Elements::e4m3_tensor_fp16_exact}) {
    EXPECT_LT(error_of({.m = 512, .n = 1024, .k = 768, .elements = elements}), 1.0 / 256)
        << to_string(elements);
    for (const std::int64_t rows : {100, 101}) {  // scales of the next matrix are aligned, or not
      EXPECT_LT(error_of({.m = rows,
                          .n = 528,
                          .k = 208,
                          .elements = elements,
                          .batch = 3,
                          .stride_a = rows * 208,
                          .stride_c = rows * 528}),
                1.0 / 256)
          << to_string(elements) << ", a batch of " << rows << " rows";
    }
  }
}

TEST_F(LibraryGemm, is_right_on_some_of_the_sms) {
  EXPECT_LT(error_of({.m = 1000, .n = 2056, .k = 520, .sms = 48}), 1.0 / 256);
}

TEST_F(LibraryGemm, is_right_on_operands_that_are_less_aligned) {
  for (const std::size_t off : {16, 48, 128}) {
    EXPECT_LT(error_of({.m = 512, .n = 1024, .k = 768}, off), 1.0 / 256) << off;
    EXPECT_LT(error_of({.m = 1000, .n = 2056, .k = 520, .sms = 48}, off), 1.0 / 256) << off;
  }
}

TEST_F(LibraryGemm, a_batch_shares_b) {
  EXPECT_LT(
      error_of(
          {.m = 128, .n = 512, .k = 256, .batch = 3, .stride_a = 128 * 256, .stride_c = 128 * 512}),
      1.0 / 256);
}

}  // namespace
}  // namespace overlaptune::run
