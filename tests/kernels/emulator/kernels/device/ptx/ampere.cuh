#pragma once
// The functions of kernels/device/ptx/ampere.cuh, for clang-tidy: the GEMM with mma.sync does not
// run on the host.

#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

void copy(u32 to, const char* from, u32 bytes);
void end_step();
template <int kPending>
void wait_for_steps();
void load_four(u32 (&to)[4], u32 from);
void load_two(u32 (&to)[2], u32 from);
template <Element kElement>
void multiply(float (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]);
void put(u32 to, u32 pair);
void deliver(char* to, u32 from);
void signal(u32* counter);
void forget(int& lane);
char* aligned_memory();

}  // namespace overlaptune::kernels::device
