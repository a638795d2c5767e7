#pragma once
// The common part of tests on a GPU.

#include <cstdlib>
#include <cuda_runtime_api.h>
#include <vector>

#include <gtest/gtest.h>

#include "run/handles.hpp"

namespace overlaptune::run {

/// Skips where there is no GPU.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A kernel that is loaded at its first launch would wait for kernels that wait for it.
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    // Streams that share one of the usual 8 queues would wait for each other: 8 ranks with two
    // each.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
    stream_ = make_stream();
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  template <class T>
  std::vector<T> on_host(const void* device, std::size_t count) const {
    std::vector<T> values(count);
    OVT_CHECK(cudaMemcpyAsync(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost,
                              stream()));
    OVT_CHECK(cudaStreamSynchronize(stream()));
    return values;
  }

 private:
  Stream stream_{};
};

/// The value of a bfloat16, from its bits.
inline double bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  static_assert(sizeof value == sizeof wide);
  __builtin_memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

}  // namespace overlaptune::run
