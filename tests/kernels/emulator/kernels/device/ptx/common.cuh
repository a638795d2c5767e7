#pragma once
// The functions of kernels/device/ptx/common.cuh on the host.

#include "kernels/device/types.cuh"
#include "tests/kernels/emulator/cuda_words.hpp"

namespace overlaptune::kernels::device {

using emulator::kLanes;
using emulator::machine;

inline int lane_of_warp() {
  return static_cast<int>(threadIdx.x) % 32;
}
inline u32 shared_address(const void* pointer) {
  return emulator::Machine::address_of(pointer);
}
inline int from_lane(int value, int lane) {
  return machine->from_lane(value, lane);
}
inline float from_lane(float value, int lane) {
  return std::bit_cast<float>(machine->from_lane(std::bit_cast<int>(value), lane));
}
template <Element>
u32 packed(float, float) {
  return 0;
}
template <Element>
void add_packed(float&, float&, u32) {}
inline bool has_reached(const u32* word, u32 value) {
  machine->jitter();
  const u32 now = std::atomic_ref(*const_cast<u32*>(word)).load();
  const bool reached = static_cast<int>(now - value) >= 0;
  if (reached) machine->went_on();
  return reached;
}
inline u64 acquired(const u64* word) {
  machine->jitter();
  return std::atomic_ref(*const_cast<u64*>(word)).load();
}
inline void increment(u32* word, u32 by) {
  machine->jitter();
  std::atomic_ref(*word).fetch_add(by);
}
inline void add_relaxed(u32* word, u32 by) {
  increment(word, by);
}
inline void fence_system() {}
inline void publish(u32* word, u32 value) {
  std::atomic_ref(*word).store(value);
}
inline void publish(u64* word, u64 value) {
  std::atomic_ref(*word).store(value);
}
inline u32 seen(const u32* word) {
  machine->jitter();
  return std::atomic_ref(*const_cast<u32*>(word)).load();
}
inline u64 seen(const u64* word) {
  machine->jitter();
  return std::atomic_ref(*const_cast<u64*>(word)).load();
}
inline u32 exchanged(u32* word, u32 value) {
  return std::atomic_ref(*word).exchange(value);
}
inline void raise(u32* word, u32 value) {
  atomicMax(word, value);
}
inline void wait_for_launch_before() {}
inline u64 nanoseconds() {
  return 1U << 20U;
}  // time stands still: no wait ends by it
inline void hide(int&) {}
inline void fence_copies() {}

}  // namespace overlaptune::kernels::device
