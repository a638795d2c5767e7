#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/compile/tiled_source.hpp"

namespace overlaptune::kernels {
namespace {

/// The number of kernels in a list with this name and these words in their tile.
std::ptrdiff_t count(const std::vector<KernelSource>& list, const std::string& name,
                     const std::string& words) {
  return std::count_if(list.begin(), list.end(), [&](const KernelSource& source) {
    return source.name == name && source.arguments.front().find(words) != std::string::npos;
  });
}

TEST(Registry, lists_the_default_space_of_each_architecture) {
  const auto hopper_kernels = kernels_of("sm_90a");
  for (const char* operand : {"bf16", "fp16", "e4m3"}) {
    for (const char* result : {"bf16", "fp16"}) {
      const bool is_usual = std::string("e4m3") == operand && std::string("bf16") == result;
      const bool exists = is_usual || std::string(result) == operand;
      const auto hopper =
          count(hopper_kernels, "hopper_gemm",
                std::string(".operand=Element::") + operand + ",.result=Element::" + result);
      EXPECT_GE(hopper, exists ? 150 : 0);
      EXPECT_LE(hopper, exists ? 220 : 0);
    }
  }
  EXPECT_EQ(count(hopper_kernels, "ampere_gemm", ""), 0);
  for (const char* element : {"bf16", "fp16", "e4m3"}) {
    for (const char* architecture : {"sm_80", "sm_89", "sm_100", "sm_120"}) {
      const auto ampere = count(kernels_of(architecture), "ampere_gemm",
                                std::string(".element=Element::") + element);
      if (std::string("e4m3") == element) {
        EXPECT_EQ(ampere, 0) << architecture;
        continue;
      }
      EXPECT_GE(ampere, 30) << architecture;
      EXPECT_LE(ampere, 60) << architecture;
    }
  }
}

TEST(Registry, lists_each_kernel_once) {
  for (const char* architecture : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_120"}) {
    const auto list = kernels_of(architecture);
    std::set<std::string> names;
    for (const KernelSource& source : list) EXPECT_TRUE(names.insert(to_string(source)).second);
    EXPECT_GT(names.size(), 50U) << architecture;
  }
  for (const char* architecture : {"", "sm_", "sm_75", "compute_80"}) {
    EXPECT_THAT(kernels_of(architecture), testing::IsEmpty()) << architecture;
  }
}

TEST(Registry, an_architecture_has_the_code_of_the_first_gpu_of_its_major_number) {
  EXPECT_EQ(architecture_of(80), "sm_80");
  EXPECT_EQ(architecture_of(86), "sm_86");
  EXPECT_EQ(architecture_of(90), "sm_90a");
  EXPECT_EQ(architecture_of(103), "sm_100");
  EXPECT_EQ(architecture_of(121), "sm_120");
}

}  // namespace
}  // namespace overlaptune::kernels
