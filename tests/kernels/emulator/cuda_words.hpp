#pragma once
// CUDA's words on the host, for headers of kernels/device: those that run here with threads of the
// host, and those that clang-tidy reads.

#include <atomic>
#include <bit>

#include "tests/kernels/emulator/machine.hpp"

#define __device__
#define __forceinline__ inline
#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)

#define threadIdx emulator::own.thread_idx
#define blockIdx emulator::own.block_idx
#define gridDim emulator::own.grid_dim

// NOLINTBEGIN(readability-identifier-naming): CUDA's names.
inline void __syncthreads() {
  emulator::machine->meet_in_cta();
}
inline void __syncwarp() {
  emulator::machine->meet_in_warp();
}
inline void __threadfence() {}
inline void __threadfence_system() {}
inline unsigned atomicAdd(unsigned* word, unsigned value) {
  emulator::machine->jitter();
  emulator::on_add(word);
  return std::atomic_ref(*word).fetch_add(value);
}
inline unsigned atomicOr(unsigned* word, unsigned bits) {
  emulator::machine->jitter();
  return std::atomic_ref(*word).fetch_or(bits);
}
inline unsigned atomicCAS(unsigned* word, unsigned expected, unsigned value) {
  emulator::machine->jitter();
  std::atomic_ref(*word).compare_exchange_strong(expected, value);
  return expected;
}
inline unsigned atomicMax(unsigned* word, unsigned value) {
  std::atomic_ref shared(*word);
  unsigned now = shared.load();
  while (now < value && !shared.compare_exchange_weak(now, value)) {
  }
  return now;
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline int __popc(unsigned bits) {
  return std::popcount(bits);
}
// NOLINTEND(readability-identifier-naming)
