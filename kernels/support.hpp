#pragma once
// Device code around measurements: inputs, checks, copies and delays. Every function enqueues, and
// returns whether CUDA took the work.

#include <cstdint>
#include <cuda_runtime_api.h>

#include "core/problem.hpp"
#include "kernels/deviation.hpp"

namespace overlaptune::kernels {

/// Fills `data` with `count` standard normal numbers. Element i is a function of (seed, i) alone,
/// so that any rank can make the inputs of any other.
[[nodiscard]] cudaError_t fill_normal(cudaStream_t stream, void* data, Dtype dtype,
                                      std::int64_t count, std::uint64_t seed);

/// Fills `data` with rows `rows[0..count)` (device memory; null: the first ones) of the matrix that
/// `fill_normal` makes; a row has k elements.
[[nodiscard]] cudaError_t fill_normal_rows(cudaStream_t stream, void* data, Dtype dtype,
                                           const std::int64_t* rows, std::int64_t count,
                                           std::int64_t k, std::uint64_t seed);

/// Fills `scales` with `count` numbers between 1/16 and 2. Scale i is a function of (seed, rows[i])
/// alone, or of (seed, i) where `rows` (device memory) is null.
[[nodiscard]] cudaError_t fill_scales(cudaStream_t stream, float* scales, const std::int64_t* rows,
                                      std::int64_t count, std::uint64_t seed);

/// Adds A * B^T to `sums`, in double precision throughout: A is rows x k, B is n x k, sums is
/// rows x n. Scales are null, or those of all rows of A and B (`of_rows`), or one for each.
[[nodiscard]] cudaError_t add_products(cudaStream_t stream, const void* a, const void* b,
                                       double* sums, Dtype dtype, std::int64_t rows, std::int64_t n,
                                       std::int64_t k, const float* a_scales = nullptr,
                                       const float* b_scales = nullptr, bool of_rows = false);

/// Compares `count` rows of C, of n elements each, with `reference`. The result goes into
/// `deviation` (device memory, zeroed before).
[[nodiscard]] cudaError_t compare(cudaStream_t stream, const void* c, std::int64_t elements,
                                  Dtype dtype, const double* reference, const std::int64_t* rows,
                                  std::int64_t count, std::int64_t n, Deviation* deviation);

/// Copies by 16-byte stores of `ctas` CTAs; `bytes` is a multiple of 16.
[[nodiscard]] cudaError_t copy_by_stores(cudaStream_t stream, void* to, const void* from,
                                         std::int64_t bytes, int ctas);

/// Copies `bytes` again and again by 16-byte stores of `ctas` CTAs, until `flag` (device memory) is
/// not zero or `nanoseconds` have passed. `bytes` is a multiple of 16, and at least 64 for each of
/// the 1024 threads of a CTA (`cudaErrorInvalidValue` otherwise).
[[nodiscard]] cudaError_t copy_until(cudaStream_t stream, void* to, const void* from,
                                     std::int64_t bytes, int ctas, const std::uint32_t* flag,
                                     std::int64_t nanoseconds);

/// Keeps one thread busy for so long.
[[nodiscard]] cudaError_t spin(cudaStream_t stream, std::int64_t nanoseconds);
[[nodiscard]] cudaError_t nothing(cudaStream_t stream);

/// Keeps all other CTAs from `ctas` SMs until `flag` (device memory) is not zero or `nanoseconds`
/// have passed. It takes all shared memory of these SMs, and every other CTA needs some: the GPU
/// reserves 1 KiB for each since Ampere.
[[nodiscard]] cudaError_t occupy(cudaStream_t stream, int ctas, const std::uint32_t* flag,
                                 std::int64_t nanoseconds);

/// Writes the GPU's timer (nanoseconds) to `time`, and then 1 to `flag`, which the whole system can
/// see.
[[nodiscard]] cudaError_t stamp_and_signal(cudaStream_t stream, std::uint64_t* time,
                                           std::uint32_t* flag);
[[nodiscard]] cudaError_t stamp(cudaStream_t stream, std::uint64_t* time);

/// The cycle counter of an SM, and the time in nanoseconds. Two stamps of the same SM give its
/// clock between them.
struct ClockStamp {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
  std::uint64_t sm = 0;
};
[[nodiscard]] cudaError_t stamp_clock(cudaStream_t stream, ClockStamp* stamp);

/// Writes to an address without memory: a fault for tests of fault attribution. The CUDA context is
/// lost.
[[nodiscard]] cudaError_t illegal_store(cudaStream_t stream);

}  // namespace overlaptune::kernels
