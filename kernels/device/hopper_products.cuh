#pragma once
// The products of one step of k: a consumer's rows times the columns of its tile.

#include "kernels/device/hopper_tile.cuh"
#include "kernels/device/ptx/wgmma.cuh"

namespace overlaptune::kernels::device {

/// A stage of the ring, as a consumer multiplies it.
struct StepOperands {
  u32 rows;     ///< the address of its first row
  u64 columns;  ///< the descriptor of the columns
};

/// Starts the wgmmas of `k`, one of the parts of 32 bytes of a step, for 64 rows.
template <class K>
__device__ __forceinline__ void multiply_part(float* sums, const StepOperands& operands, int part,
                                              int k, bool add) {
  const u64 down = descriptor(operands.rows + part * 64 * K::kRowBytes);
#pragma unroll
  for (int i = 0; i < K::kAcross / K::kMultiplied; ++i) {
    // Offsets of a descriptor are in units of 16 bytes.
    multiply<K::kMultiplied, K::kOperand>(
        sums + i * K::kMultiplied / 2, down + 2 * k,
        operands.columns + i * (K::kMultiplied * K::kRowBytes / 16) + 2 * k, add);
  }
}

/// The compiler does not know that sums are complete only behind the wait for their wgmmas.
template <class K>
__device__ __forceinline__ void complete(float* sums) {
#pragma unroll
  for (int i = 0; i < K::kAccumulators; ++i) completed(sums[i]);
}

/// Starts the products of a step, which tensor cores add to the sums.
template <class K>
__device__ __forceinline__ void multiply_step(float (&sums)[K::kParts][K::kAccumulators],
                                              const StepOperands& operands, bool is_first) {
  begin_wgmma();
#pragma unroll
  for (int k = 0; k < K::kRowBytes / 32; ++k) {
#pragma unroll
    for (int part = 0; part < K::kParts; ++part) {
      multiply_part<K>(sums[part], operands, part, k, k > 0 || !is_first);
    }
  }
  end_wgmma();
}

/// Makes the products of a step, and adds them to the sums in fp32: tensor cores add up those of
/// this step alone. Meanwhile they multiply for another consumer, where tiles are not taken in
/// turn. (Consumers that were made to take turns, step by step, took 5 % longer.)
template <class K>
__device__ __forceinline__ void add_step(float (&sums)[K::kParts][K::kAccumulators],
                                         const StepOperands& operands, bool is_first) {
#pragma unroll
  for (int part = 0; part < K::kParts; ++part) {
    float products[K::kAccumulators];
    begin_wgmma();
#pragma unroll
    for (int k = 0; k < K::kRowBytes / 32; ++k) {
      multiply_part<K>(products, operands, part, k, k > 0);
    }
    end_wgmma();
    wait_for_wgmma<0>();
    complete<K>(products);
#pragma unroll
    for (int i = 0; i < K::kAccumulators; ++i) {
      sums[part][i] = is_first ? products[i] : sums[part][i] + products[i];
    }
  }
}

}  // namespace overlaptune::kernels::device
