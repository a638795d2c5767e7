#pragma once
// Device code around what is measured: inputs, checks, copies and delays. Every function enqueues
// and returns; errors come out of the stream (`cudaGetLastError`).

#include <cstdint>
#include <cuda_runtime_api.h>

#include "core/problem.hpp"

namespace overlaptune::kernels {

/// `count` standard normal numbers; element i is a function of (seed, i) alone, so that any rank
/// can make any other's inputs.
void fill_normal(cudaStream_t stream, void* data, Dtype dtype, std::int64_t count,
                 std::uint64_t seed);

/// Rows `rows[0..count)` (device memory) of the matrix that `fill_normal` makes, k to a row.
void fill_normal_rows(cudaStream_t stream, void* data, Dtype dtype, const std::int64_t* rows,
                      std::int64_t count, std::int64_t k, std::uint64_t seed);

/// Adds A * B^T to `sums`, in double precision throughout: A is rows x k, B is n x k, sums is
/// rows x n.
void add_products(cudaStream_t stream, const void* a, const void* b, double* sums, Dtype dtype,
                  std::int64_t rows, std::int64_t n, std::int64_t k);

/// What a result is off by: the largest relative error (Euclidean norm) of any segment of 64
/// (the last: up to 127) columns of the given rows of C (n to a row), and the elements of all of C
/// that are not finite.
struct Deviation {
  double largest = 0;
  unsigned long long not_finite = 0;
};

/// Into `deviation` (device memory, zeroed before).
void compare(cudaStream_t stream, const void* c, std::int64_t elements, Dtype dtype,
             const double* reference, const std::int64_t* rows, std::int64_t count, std::int64_t n,
             Deviation* deviation);

/// 16-byte stores by `ctas` CTAs; bytes a multiple of 16.
void copy_by_stores(cudaStream_t stream, void* to, const void* from, std::int64_t bytes, int ctas);

/// Keeps one thread busy this long.
void spin(cudaStream_t stream, std::int64_t nanoseconds);
void nothing(cudaStream_t stream);

/// Keeps `ctas` SMs from everything until `flag` (device memory) is not zero, or `nanoseconds` have
/// passed: it takes all shared memory, of which the GPU reserves some for any CTA (1 KiB since
/// Ampere).
void occupy(cudaStream_t stream, int ctas, const std::uint32_t* flag, std::int64_t nanoseconds);

/// Writes the GPU's timer (nanoseconds) and then, for all the system to see, 1 to `flag`.
void stamp_and_signal(cudaStream_t stream, std::uint64_t* time, std::uint32_t* flag);
void stamp(cudaStream_t stream, std::uint64_t* time);

/// Cycles of one SM and the time, in nanoseconds: two of the same SM tell its clock in between.
struct ClockStamp {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
  std::uint64_t sm = 0;
};
void stamp_clock(cudaStream_t stream, ClockStamp* stamp);

/// Writes where nothing is: a fault for tests of isolation. The context is lost.
void illegal_store(cudaStream_t stream);

}  // namespace overlaptune::kernels
