#pragma once
// Words in memory by which kernels signal each other, and waits with a time limit for them.

#include <cstdint>

#include "kernels/patience.hpp"

namespace overlaptune::kernels {

__device__ inline std::uint64_t now() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ inline std::uint32_t load_acquire(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__device__ inline void store_release(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

__device__ inline void add_release(std::uint32_t* at, std::uint32_t more) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(at), "r"(more) : "memory");
}

__device__ inline void wait_for(const std::uint32_t* at, std::uint32_t value) {
  if (load_acquire(at) >= value) return;
  const std::uint64_t start = now();
  while (load_acquire(at) < value) {
    if (now() - start > kPatience) __trap();
  }
}

}  // namespace overlaptune::kernels
