#pragma once
// Instructions that kernels of all GPUs use, one function for each. Inline PTX stands in this
// folder only. Tests run all other headers with threads of the host, and put functions of their own
// in the place of these (tests/kernels/emulator).
//
// Source: PTX ISA 8.x.

#include "kernels/device/types.cuh"

namespace overlaptune::kernels::device {

constexpr int kLanes = 32;  // of a warp

__device__ __forceinline__ int lane_of_warp() {
  return static_cast<int>(threadIdx.x) % kLanes;
}

__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ int from_lane(int value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
__device__ __forceinline__ float from_lane(float value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

/// Two numbers, the first one in the lower half.
template <Element kElement>
__device__ __forceinline__ u32 packed(float low, float high) {
  u32 pair;
  if constexpr (kElement == Element::fp16) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

/// Adds the numbers of a pair to two sums.
template <Element kElement>
__device__ __forceinline__ void add_packed(float& low, float& high, u32 pair) {
  if constexpr (kElement == Element::fp16) {
    float first;
    float second;
    asm("{\n.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}\n"
        : "=f"(first), "=f"(second)
        : "r"(pair));
    low += first;
    high += second;
  } else {
    low += __uint_as_float(pair << 16);
    high += __uint_as_float(pair & 0xffff0000u);
  }
}

// Words that ranks share. Runs and counters are compared as numbers that wrap.

__device__ __forceinline__ bool has_reached(const u32* word, u32 value) {
  u32 now;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
  return static_cast<int>(now - value) >= 0;
}

__device__ __forceinline__ u64 acquired(const u64* word) {
  u64 now;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
  return now;
}

__device__ __forceinline__ void increment(u32* word, u32 by) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(word), "r"(by) : "memory");
}

__device__ __forceinline__ void publish(u32* word, u32 value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ __forceinline__ void publish(u64* word, u64 value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

__device__ __forceinline__ u32 seen(const u32* word) {
  u32 value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ u64 seen(const u64* word) {
  u64 value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

/// Writes a word, in no order with other writes of this thread.
__device__ __forceinline__ void store_relaxed(u64* word, u64 value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/// Replaces a word.
__device__ __forceinline__ u32 exchanged(u32* word, u32 value) {
  u32 before;
  asm volatile("atom.relaxed.sys.global.exch.b32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(word), "r"(value)
               : "memory");
  return before;
}

/// Adds to a word, in no order with other writes of this thread.
__device__ __forceinline__ void add_relaxed(u64* word, u64 by) {
  asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(word), "l"(by) : "memory");
}

__device__ __forceinline__ void add_relaxed(u32* word, u32 by) {
  asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(word), "r"(by) : "memory");
}

/// What this thread has done and seen comes before what it writes from now on, for all that see
/// that: so relaxed writes to several ranks cost one fence.
__device__ __forceinline__ void fence_system() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// Raises a word to at least `value`.
__device__ __forceinline__ void raise(u32* word, u32 value) {
  asm volatile("red.relaxed.sys.global.max.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ __forceinline__ u64 nanoseconds() {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// Lets the next launch of the stream start, if it may start before this one has ended.
__device__ __forceinline__ void start_next_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the launch before has ended, if it has let this one start before that.
__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Hides from the compiler where a value comes from.
__device__ __forceinline__ void hide(int& value) {
  asm volatile("" : "+r"(value));
}

/// Orders what this thread has seen before the copies of TMA that it starts next.
__device__ __forceinline__ void fence_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

}  // namespace overlaptune::kernels::device
