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

/// Products of steps that threads add to the sums in fp32, because tensor cores add up those of one
/// step alone. A step is made in pieces, each of half of the columns of 64 rows; while tensor cores
/// make one, the threads add the piece before.
template <class K>
struct ExactProducts {
  static constexpr int kPieces = 2 * K::kParts;  ///< of a step
  static constexpr int kColumns = K::kAcross / 2;
  static_assert(kColumns % 8 == 0, "no wgmma has half of the columns");
  /// Steps whose pieces overlap. Then tensor cores are waited for, because ptxas allows no overlap
  /// with the next pass of a loop (warning C7514: "wgmma.mma_async instructions are serialized").
  /// Threads of three consumers have registers for two.
  static constexpr int kTogether = K::kConsumers == 3 ? 2 : 4;

  /// `next` waits for the next step and gives its operands; `release` is called for each that has
  /// been read.
  template <class Next, class Release>
  static __device__ __forceinline__ void multiply(float (&sums)[K::kParts][K::kAccumulators],
                                                  int steps, const Next& next,
                                                  const Release& release) {
#pragma unroll
    for (int part = 0; part < K::kParts; ++part) {
#pragma unroll
      for (int i = 0; i < K::kAccumulators; ++i) sums[part][i] = 0;
    }
    int left = steps;
#pragma unroll 1
    for (; left >= kTogether; left -= kTogether) add_steps<kTogether>(sums, next, release);
#pragma unroll 1
    for (; left > 0; --left) add_steps<1>(sums, next, release);
  }

 private:
  template <int kSteps, class Next, class Release>
  static __device__ __forceinline__ void add_steps(float (&sums)[K::kParts][K::kAccumulators],
                                                   const Next& next, const Release& release) {
    float products[2][kColumns / 2];
    StepOperands operands{};
#pragma unroll
    for (int piece = 0; piece < kSteps * kPieces; ++piece) {
      if (piece % kPieces == 0) operands = next();
      const int part = piece % kPieces / 2;
      const u64 down = descriptor(operands.rows + part * 64 * K::kRowBytes);
      const u64 columns = operands.columns + piece % 2 * (kColumns * K::kRowBytes / 16);
      begin_wgmma();
#pragma unroll
      for (int k = 0; k < K::kRowBytes / 32; ++k) {
        device::multiply<kColumns, K::kOperand>(products[piece % 2], down + 2 * k, columns + 2 * k,
                                                k > 0);
      }
      end_wgmma();
      if (piece == 0) continue;
      wait_for_wgmma<1>();
      if (piece % kPieces == 0) release();
      add(sums, products[(piece - 1) % 2], (piece - 1) % kPieces);
    }
    wait_for_wgmma<0>();
    release();
    add(sums, products[1], kPieces - 1);
  }

  static __device__ __forceinline__ void add(float (&sums)[K::kParts][K::kAccumulators],
                                             float (&products)[kColumns / 2], int piece) {
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) completed(products[i]);
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) {
      sums[piece / 2][piece % 2 * (kColumns / 2) + i] += products[i];
    }
  }
};

}  // namespace overlaptune::kernels::device
