#pragma once
// Instructions of the GEMM with mma.sync beside those of common.cuh, one function for each.
//
// Sources: PTX ISA 8.x, "Matrix fragments for mma.m16n8k16 with floating point type", "ldmatrix",
// "cp.async", "cp.async.wait_group", "Memory consistency model" (causality order, release
// patterns).

#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

/// Copies 16 bytes: the first `bytes` are read, the others become zero.
__device__ __forceinline__ void copy(u32 to, const char* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void end_step() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but the last `pending` steps of this thread have arrived.
template <int pending>
__device__ __forceinline__ void wait_for_steps() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Loads four 8 x 8 matrices. Eight lanes give the rows of each.
__device__ __forceinline__ void load_four(u32 (&to)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void load_two(u32 (&to)[2], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from)
               : "memory");
}

template <Element kElement>
__device__ __forceinline__ void multiply(float (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (kElement == Element::fp16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

__device__ __forceinline__ void put(u32 to, u32 pair) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(pair) : "memory");
}

/// Stores 16 bytes of C, from shared memory.
__device__ __forceinline__ void deliver(char* to, u32 from) {
  asm volatile(
      "{\n"
      ".reg .b32 a, b, c, d;\n"
      "ld.shared.v4.b32 {a, b, c, d}, [%1];\n"
      "st.global.v4.b32 [%0], {a, b, c, d};\n"
      "}\n" ::"l"(to),
      "r"(from)
      : "memory");
}

/// Increments a counter, after a barrier that all storing threads have passed. What they stored
/// comes before the increment, for the whole system.
__device__ __forceinline__ void signal(u32* counter) {
  __threadfence_system();
  asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

/// Keeps the compiler from holding values that follow from `lane` in registers while the sums grow.
__device__ __forceinline__ void forget(int& lane) {
  asm volatile("" : "+r"(lane));
}

/// The CTA's dynamic shared memory.
__device__ __forceinline__ char* aligned_memory() {
  alignas(128) extern __shared__ char ampere_memory[];
  return ampere_memory;
}

}  // namespace overlaptune::kernels::device
