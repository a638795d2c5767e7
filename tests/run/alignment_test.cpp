#include <cstdint>

#include <gtest/gtest.h>

#include "run/gemm/gemm.hpp"

namespace overlaptune::run {
namespace {

std::uint32_t alignment(const GemmShape& shape, std::uintptr_t a, std::uintptr_t b,
                        std::uintptr_t c) {
  const GemmOperands operands{reinterpret_cast<void*>(a), reinterpret_cast<void*>(b),
                              reinterpret_cast<void*>(c)};
  return common_alignment(shape, std::span(&operands, 1));
}

TEST(AlignmentTest, IsThatOfTheLeastAlignedOperand) {
  const GemmShape shape{.m = 512, .n = 1024, .k = 768};
  EXPECT_EQ(alignment(shape, 0x1000, 0x2000, 0x3000), 256U);
  EXPECT_EQ(alignment(shape, 0x1010, 0x2000, 0x3000), 16U);
  EXPECT_EQ(alignment(shape, 0x1000, 0x2020, 0x3000), 32U);
  EXPECT_EQ(alignment(shape, 0x1000, 0x2000, 0x3080), 128U);
  EXPECT_EQ(alignment(shape, 0x1000, 0x2000, 0x3002), 2U);
}

TEST(AlignmentTest, IsThatOfTheRows) {
  EXPECT_EQ(alignment({.m = 512, .n = 1024, .k = 776}, 0x1000, 0x2000, 0x3000), 16U);
  EXPECT_EQ(alignment({.m = 512, .n = 1032, .k = 768}, 0x1000, 0x2000, 0x3000), 16U);
  EXPECT_EQ(alignment({.m = 512, .n = 1024, .k = 704, .row_stride = 768}, 0x1000, 0x2000, 0x3000),
            256U);
  EXPECT_EQ(alignment({.m = 8, .n = 1024, .k = 768, .batch = 2, .stride_a = 768 * 8, .stride_c = 8},
                      0x1000, 0x2000, 0x3000),
            16U);
}

}  // namespace
}  // namespace overlaptune::run
