#pragma once
// Types that a kernel and its launch share. Like all headers of this folder, it includes no header
// of others: NVRTC gets them in memory, and has none.

namespace overlaptune::kernels::device {

using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;
static_assert(sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(i64) == 8);

/// 16 bytes, which a thread loads or stores at once.
struct alignas(16) Vector {
  u32 x;
  u32 y;
  u32 z;
  u32 w;
};

/// `CUtensorMap` of the driver: the description of a matrix for copies by TMA.
struct alignas(64) TensorMap {
  char opaque[128];
};

/// One of two types.
template <bool kFirst, class First, class Second>
struct Choice {
  using Type = First;
};
template <class First, class Second>
struct Choice<false, First, Second> {
  using Type = Second;
};
template <bool kFirst, class First, class Second>
using Either = typename Choice<kFirst, First, Second>::Type;

/// Type of the elements of a matrix. `e4m3`: of A and B only, on Hopper.
enum class Element { bf16, fp16, e4m3 };

}  // namespace overlaptune::kernels::device
