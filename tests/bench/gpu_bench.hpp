#pragma once
// The common part of benchmarks of generated GEMMs on a GPU.

#include <exception>
#include <span>

#include <fmt/format.h>

#include "kernels/support.hpp"
#include "run/gemm/generated_gemm.hpp"

namespace overlaptune::run {

constexpr int kRounds = 15;

/// Microseconds of one call of `enqueue(i)`: the mean of several between two events.
template <class Enqueue>
double time_of(cudaStream_t stream, const Enqueue& enqueue) {
  constexpr std::size_t kLaunches = 8;
  const Event from = make_event(true);
  const Event to = make_event(true);
  OVT_CHECK(kernels::spin(stream, 60'000));  // the host is ahead
  OVT_CHECK(cudaEventRecord(from.get(), stream));
  for (std::size_t i = 0; i < kLaunches; ++i) enqueue(i);
  OVT_CHECK(cudaEventRecord(to.get(), stream));
  OVT_CHECK(cudaStreamSynchronize(stream));
  float ms = 0;
  OVT_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return 1e3 * static_cast<double>(ms) / kLaunches;
}

/// Microseconds of one launch of a GEMM: the mean of several `launches`, which take turns.
inline double time_of(cudaStream_t stream, const GeneratedGemm& gemm,
                      std::span<const GeneratedLaunch> launches) {
  return time_of(stream,
                 [&](std::size_t i) { gemm.enqueue(stream, launches[i % launches.size()]); });
}

/// Bytes of 2-byte elements.
inline std::size_t bytes_of_elements(std::int64_t elements) {
  return static_cast<std::size_t>(2 * elements);
}

/// Runs `measure` on GPU 0, or prints that there is no GPU. Returns the exit code of the program.
template <class Measure>
int measured(const char* program, const Measure& measure) {
  try {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      fmt::print("no GPU\n");
      return 0;
    }
    cudaDeviceProp properties{};
    OVT_CHECK(cudaGetDeviceProperties(&properties, 0));
    measure(properties);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 1;
  }
}

}  // namespace overlaptune::run
