#pragma once
// One wgmma of m64 x n and 32 bytes of k: 16 elements, or 32 of 8 bits. Each n has an instruction
// of its own, because the number of operands depends on it: a thread has n / 2 sums. Registers and
// operands of n are those of n - 8, and four more.
//
// Source: PTX ISA 8.x, "wgmma.mma_async".

#include "kernels/device/types.cuh"

namespace overlaptune::kernels::device {

// clang-format off
#define OVT_REGISTERS_8 "%0, %1, %2, %3"
#define OVT_REGISTERS_16 OVT_REGISTERS_8 ", %4, %5, %6, %7"
#define OVT_REGISTERS_24 OVT_REGISTERS_16 ", %8, %9, %10, %11"
#define OVT_REGISTERS_32 OVT_REGISTERS_24 ", %12, %13, %14, %15"
#define OVT_REGISTERS_40 OVT_REGISTERS_32 ", %16, %17, %18, %19"
#define OVT_REGISTERS_48 OVT_REGISTERS_40 ", %20, %21, %22, %23"
#define OVT_REGISTERS_56 OVT_REGISTERS_48 ", %24, %25, %26, %27"
#define OVT_REGISTERS_64 OVT_REGISTERS_56 ", %28, %29, %30, %31"
#define OVT_REGISTERS_72 OVT_REGISTERS_64 ", %32, %33, %34, %35"
#define OVT_REGISTERS_80 OVT_REGISTERS_72 ", %36, %37, %38, %39"
#define OVT_REGISTERS_88 OVT_REGISTERS_80 ", %40, %41, %42, %43"
#define OVT_REGISTERS_96 OVT_REGISTERS_88 ", %44, %45, %46, %47"
#define OVT_REGISTERS_104 OVT_REGISTERS_96 ", %48, %49, %50, %51"
#define OVT_REGISTERS_112 OVT_REGISTERS_104 ", %52, %53, %54, %55"
#define OVT_REGISTERS_120 OVT_REGISTERS_112 ", %56, %57, %58, %59"
#define OVT_REGISTERS_128 OVT_REGISTERS_120 ", %60, %61, %62, %63"
#define OVT_REGISTERS_136 OVT_REGISTERS_128 ", %64, %65, %66, %67"
#define OVT_REGISTERS_144 OVT_REGISTERS_136 ", %68, %69, %70, %71"
#define OVT_REGISTERS_152 OVT_REGISTERS_144 ", %72, %73, %74, %75"
#define OVT_REGISTERS_160 OVT_REGISTERS_152 ", %76, %77, %78, %79"
#define OVT_REGISTERS_168 OVT_REGISTERS_160 ", %80, %81, %82, %83"
#define OVT_REGISTERS_176 OVT_REGISTERS_168 ", %84, %85, %86, %87"
#define OVT_REGISTERS_184 OVT_REGISTERS_176 ", %88, %89, %90, %91"
#define OVT_REGISTERS_192 OVT_REGISTERS_184 ", %92, %93, %94, %95"
#define OVT_REGISTERS_200 OVT_REGISTERS_192 ", %96, %97, %98, %99"
#define OVT_REGISTERS_208 OVT_REGISTERS_200 ", %100, %101, %102, %103"
#define OVT_REGISTERS_216 OVT_REGISTERS_208 ", %104, %105, %106, %107"
#define OVT_REGISTERS_224 OVT_REGISTERS_216 ", %108, %109, %110, %111"
#define OVT_REGISTERS_232 OVT_REGISTERS_224 ", %112, %113, %114, %115"
#define OVT_REGISTERS_240 OVT_REGISTERS_232 ", %116, %117, %118, %119"
#define OVT_REGISTERS_248 OVT_REGISTERS_240 ", %120, %121, %122, %123"
#define OVT_REGISTERS_256 OVT_REGISTERS_248 ", %124, %125, %126, %127"

#define OVT_SUMS_8 "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
#define OVT_SUMS_16 OVT_SUMS_8, "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]), "+f"(sums[7])
#define OVT_SUMS_24 OVT_SUMS_16, "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11])
#define OVT_SUMS_32 OVT_SUMS_24, "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15])
#define OVT_SUMS_40 OVT_SUMS_32, "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19])
#define OVT_SUMS_48 OVT_SUMS_40, "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23])
#define OVT_SUMS_56 OVT_SUMS_48, "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27])
#define OVT_SUMS_64 OVT_SUMS_56, "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31])
#define OVT_SUMS_72 OVT_SUMS_64, "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35])
#define OVT_SUMS_80 OVT_SUMS_72, "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39])
#define OVT_SUMS_88 OVT_SUMS_80, "+f"(sums[40]), "+f"(sums[41]), "+f"(sums[42]), "+f"(sums[43])
#define OVT_SUMS_96 OVT_SUMS_88, "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47])
#define OVT_SUMS_104 OVT_SUMS_96, "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51])
#define OVT_SUMS_112 OVT_SUMS_104, "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55])
#define OVT_SUMS_120 OVT_SUMS_112, "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59])
#define OVT_SUMS_128 OVT_SUMS_120, "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63])
#define OVT_SUMS_136 OVT_SUMS_128, "+f"(sums[64]), "+f"(sums[65]), "+f"(sums[66]), "+f"(sums[67])
#define OVT_SUMS_144 OVT_SUMS_136, "+f"(sums[68]), "+f"(sums[69]), "+f"(sums[70]), "+f"(sums[71])
#define OVT_SUMS_152 OVT_SUMS_144, "+f"(sums[72]), "+f"(sums[73]), "+f"(sums[74]), "+f"(sums[75])
#define OVT_SUMS_160 OVT_SUMS_152, "+f"(sums[76]), "+f"(sums[77]), "+f"(sums[78]), "+f"(sums[79])
#define OVT_SUMS_168 OVT_SUMS_160, "+f"(sums[80]), "+f"(sums[81]), "+f"(sums[82]), "+f"(sums[83])
#define OVT_SUMS_176 OVT_SUMS_168, "+f"(sums[84]), "+f"(sums[85]), "+f"(sums[86]), "+f"(sums[87])
#define OVT_SUMS_184 OVT_SUMS_176, "+f"(sums[88]), "+f"(sums[89]), "+f"(sums[90]), "+f"(sums[91])
#define OVT_SUMS_192 OVT_SUMS_184, "+f"(sums[92]), "+f"(sums[93]), "+f"(sums[94]), "+f"(sums[95])
#define OVT_SUMS_200 OVT_SUMS_192, "+f"(sums[96]), "+f"(sums[97]), "+f"(sums[98]), "+f"(sums[99])
#define OVT_SUMS_208 OVT_SUMS_200, "+f"(sums[100]), "+f"(sums[101]), "+f"(sums[102]), "+f"(sums[103])
#define OVT_SUMS_216 OVT_SUMS_208, "+f"(sums[104]), "+f"(sums[105]), "+f"(sums[106]), "+f"(sums[107])
#define OVT_SUMS_224 OVT_SUMS_216, "+f"(sums[108]), "+f"(sums[109]), "+f"(sums[110]), "+f"(sums[111])
#define OVT_SUMS_232 OVT_SUMS_224, "+f"(sums[112]), "+f"(sums[113]), "+f"(sums[114]), "+f"(sums[115])
#define OVT_SUMS_240 OVT_SUMS_232, "+f"(sums[116]), "+f"(sums[117]), "+f"(sums[118]), "+f"(sums[119])
#define OVT_SUMS_248 OVT_SUMS_240, "+f"(sums[120]), "+f"(sums[121]), "+f"(sums[122]), "+f"(sums[123])
#define OVT_SUMS_256 OVT_SUMS_248, "+f"(sums[124]), "+f"(sums[125]), "+f"(sums[126]), "+f"(sums[127])

/// `A`, `B` and `ADD`: the operands behind the sums, by their numbers. `ORDER`: whether A and B are
/// transposed, which only 16-bit elements can be.
#define OVT_WGMMA(N, TYPES, ORDER, A, B, ADD)                                             \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #ADD ", 0;\n"                        \
               "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {"                          \
               OVT_REGISTERS_##N "}, %" #A ", %" #B ", p, 1, 1" ORDER ";\n}\n"           \
               : OVT_SUMS_##N                                                             \
               : "l"(a), "l"(b), "r"(add))

#define OVT_MULTIPLY(N, A, B, ADD)                            \
  if constexpr (kColumns == N) {                              \
    if constexpr (kElement == Element::e4m3) {                \
      OVT_WGMMA(N, "k32.f32.e4m3.e4m3", "", A, B, ADD);       \
    } else if constexpr (kElement == Element::fp16) {         \
      OVT_WGMMA(N, "k16.f32.f16.f16", ", 0, 0", A, B, ADD);   \
    } else {                                                  \
      OVT_WGMMA(N, "k16.f32.bf16.bf16", ", 0, 0", A, B, ADD); \
    }                                                         \
  }

/// Multiplies 32 bytes of k of the matrices with the descriptors `a` and `b`. The products are
/// added to the sums, or, where `add` is 0, become the sums.
template <int kColumns, Element kElement>
__device__ __forceinline__ void multiply(float* sums, u64 a, u64 b, int add) {
  static_assert(kColumns % 8 == 0 && kColumns >= 8 && kColumns <= 256, "no wgmma has it");
  OVT_MULTIPLY(8, 4, 5, 6)
  OVT_MULTIPLY(16, 8, 9, 10)
  OVT_MULTIPLY(24, 12, 13, 14)
  OVT_MULTIPLY(32, 16, 17, 18)
  OVT_MULTIPLY(40, 20, 21, 22)
  OVT_MULTIPLY(48, 24, 25, 26)
  OVT_MULTIPLY(56, 28, 29, 30)
  OVT_MULTIPLY(64, 32, 33, 34)
  OVT_MULTIPLY(72, 36, 37, 38)
  OVT_MULTIPLY(80, 40, 41, 42)
  OVT_MULTIPLY(88, 44, 45, 46)
  OVT_MULTIPLY(96, 48, 49, 50)
  OVT_MULTIPLY(104, 52, 53, 54)
  OVT_MULTIPLY(112, 56, 57, 58)
  OVT_MULTIPLY(120, 60, 61, 62)
  OVT_MULTIPLY(128, 64, 65, 66)
  OVT_MULTIPLY(136, 68, 69, 70)
  OVT_MULTIPLY(144, 72, 73, 74)
  OVT_MULTIPLY(152, 76, 77, 78)
  OVT_MULTIPLY(160, 80, 81, 82)
  OVT_MULTIPLY(168, 84, 85, 86)
  OVT_MULTIPLY(176, 88, 89, 90)
  OVT_MULTIPLY(184, 92, 93, 94)
  OVT_MULTIPLY(192, 96, 97, 98)
  OVT_MULTIPLY(200, 100, 101, 102)
  OVT_MULTIPLY(208, 104, 105, 106)
  OVT_MULTIPLY(216, 108, 109, 110)
  OVT_MULTIPLY(224, 112, 113, 114)
  OVT_MULTIPLY(232, 116, 117, 118)
  OVT_MULTIPLY(240, 120, 121, 122)
  OVT_MULTIPLY(248, 124, 125, 126)
  OVT_MULTIPLY(256, 128, 129, 130)
}

}  // namespace overlaptune::kernels::device
