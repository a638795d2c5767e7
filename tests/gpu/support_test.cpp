#include "kernels/support.hpp"

#include <chrono>
#include <cmath>

#include "gpu.hpp"
#include "run/gemm/occupied.hpp"

namespace overlaptune::run {
namespace {

using Support = GpuTest;

constexpr std::int64_t kCount = 1 << 20;

TEST_F(Support, numbers_are_standard_normal_and_repeat) {
  const DeviceMemory memory = device_memory(kCount * 2);
  OVT_CHECK(kernels::fill_normal(stream(), memory.get(), Dtype::bf16, kCount, 7));
  const auto first = on_host<std::uint16_t>(memory.get(), kCount);
  double sum = 0;
  double squares = 0;
  for (const std::uint16_t bits : first) {
    sum += bf16(bits);
    squares += bf16(bits) * bf16(bits);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.005);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  OVT_CHECK(kernels::fill_normal(stream(), memory.get(), Dtype::bf16, kCount, 7));
  EXPECT_EQ(on_host<std::uint16_t>(memory.get(), kCount), first);
  OVT_CHECK(kernels::fill_normal(stream(), memory.get(), Dtype::bf16, kCount, 8));
  EXPECT_NE(on_host<std::uint16_t>(memory.get(), kCount), first);
}

TEST_F(Support, products_are_those_of_the_host) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kN = 24;
  constexpr std::int64_t kK = 40;
  const DeviceMemory a = device_memory(kRows * kK * 2);
  const DeviceMemory b = device_memory(kN * kK * 2);
  const DeviceMemory sums = device_memory(kRows * kN * sizeof(double));
  OVT_CHECK(kernels::fill_normal(stream(), a.get(), Dtype::bf16, kRows * kK, 1));
  OVT_CHECK(kernels::fill_normal(stream(), b.get(), Dtype::bf16, kN * kK, 2));
  OVT_CHECK(cudaMemsetAsync(sums.get(), 0, kRows * kN * sizeof(double), stream()));
  OVT_CHECK(kernels::add_products(stream(), a.get(), b.get(), static_cast<double*>(sums.get()),
                                  Dtype::bf16, kRows, kN, kK));
  const auto found = on_host<double>(sums.get(), kRows * kN);
  const auto left = on_host<std::uint16_t>(a.get(), kRows * kK);
  const auto right = on_host<std::uint16_t>(b.get(), kN * kK);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kN; ++j) {
      double expected = 0;
      for (std::size_t l = 0; l < kK; ++l)
        expected += bf16(left[i * kK + l]) * bf16(right[j * kK + l]);
      EXPECT_NEAR(found[i * kN + j], expected, 1e-9);
    }
  }
}

/// 72 columns: one segment, of 64 columns and the 8 left over together.
TEST_F(Support, deviation_finds_one_wrong_element_and_one_that_is_no_number) {
  constexpr std::int64_t kN = 72;
  const std::int64_t row = 0;
  const DeviceMemory rows = device_memory(sizeof row);
  const DeviceMemory c = device_memory(kN * 2);
  const DeviceMemory reference = device_memory(kN * sizeof(double));
  const DeviceMemory deviation = device_memory(sizeof(kernels::Deviation));
  OVT_CHECK(cudaMemcpy(rows.get(), &row, sizeof row, cudaMemcpyHostToDevice));
  std::vector<std::uint16_t> ones(kN, 0x3f80);
  const std::vector<double> expected(kN, 1.0);
  OVT_CHECK(
      cudaMemcpy(reference.get(), expected.data(), kN * sizeof(double), cudaMemcpyHostToDevice));
  const auto seen = [&] {
    OVT_CHECK(cudaMemcpy(c.get(), ones.data(), kN * 2, cudaMemcpyHostToDevice));
    OVT_CHECK(cudaMemsetAsync(deviation.get(), 0, sizeof(kernels::Deviation), stream()));
    OVT_CHECK(kernels::compare(stream(), c.get(), kN, Dtype::bf16,
                               static_cast<double*>(reference.get()),
                               static_cast<std::int64_t*>(rows.get()), 1, kN,
                               static_cast<kernels::Deviation*>(deviation.get())));
    return on_host<kernels::Deviation>(deviation.get(), 1).front();
  };
  EXPECT_EQ(seen().largest, 0);
  EXPECT_EQ(seen().not_finite, 0U);
  ones[70] = 0x4000;  // 2: off by 1 among 72 ones
  EXPECT_NEAR(seen().largest, 1 / std::sqrt(72.0), 1e-12);
  ones[3] = 0xffff;
  EXPECT_EQ(seen().not_finite, 1U);
  EXPECT_TRUE(std::isinf(seen().largest));
}

TEST_F(Support, occupied_sms_are_given_back) {
  int device = 0;
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  OVT_CHECK(kernels::nothing(stream()));  // loads the kernel
  OVT_CHECK(cudaStreamSynchronize(stream()));
  const auto start = std::chrono::steady_clock::now();
  {
    const Occupied most(stream(), properties.multiProcessorCount - 1);
    OVT_CHECK(kernels::nothing(stream()));
  }
  // The kernel runs on the last SM, before the occupied SMs are free at the time limit.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

/// A copy that repeats itself until it is told to end, or for as long as it may take.
TEST_F(Support, a_copy_that_repeats_itself_ends) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 20;
  constexpr std::int64_t kLongest = 200'000'000;  // ns
  const DeviceMemory from = device_memory(kBytes);
  const DeviceMemory to = device_memory(kBytes);
  const DeviceMemory flag = device_memory(sizeof(std::uint32_t));
  OVT_CHECK(kernels::fill_normal(stream(), from.get(), Dtype::bf16, kBytes / 2, 3));
  const auto time_with = [&](int set, std::int64_t longest) {
    OVT_CHECK(cudaMemsetAsync(flag.get(), set, sizeof(std::uint32_t), stream()));
    OVT_CHECK(cudaStreamSynchronize(stream()));
    const auto start = std::chrono::steady_clock::now();
    OVT_CHECK(kernels::copy_until(stream(), to.get(), from.get(), kBytes, 8,
                                  static_cast<std::uint32_t*>(flag.get()), longest));
    OVT_CHECK(cudaStreamSynchronize(stream()));
    return std::chrono::steady_clock::now() - start;
  };
  static_cast<void>(time_with(1, 0));  // loads the kernel
  EXPECT_LT(time_with(1, kLongest), std::chrono::milliseconds(100));
  EXPECT_GE(time_with(0, kLongest), std::chrono::milliseconds(195));
  EXPECT_EQ(on_host<std::uint16_t>(to.get(), kBytes / 2),
            on_host<std::uint16_t>(from.get(), kBytes / 2));
  // Another stream ends it, as the one whose run it surrounds does.
  const Stream other = make_stream();
  OVT_CHECK(kernels::copy_until(other.get(), to.get(), from.get(), kBytes, 8,
                                static_cast<std::uint32_t*>(flag.get()), 10 * kLongest));
  const auto start = std::chrono::steady_clock::now();
  OVT_CHECK(cudaMemsetAsync(flag.get(), 1, sizeof(std::uint32_t), stream()));
  OVT_CHECK(cudaStreamSynchronize(stream()));
  OVT_CHECK(cudaStreamSynchronize(other.get()));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(kernels::copy_until(stream(), to.get(), from.get(), 1 << 16, 8,
                                static_cast<std::uint32_t*>(flag.get()), 0),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace overlaptune::run
