#pragma once
// Kernels made up for tests.

#include <string>

#include <gtest/gtest.h>

#include "kernels/compile/compiler.hpp"

namespace overlaptune::kernels {

/// Stores a factor; `number` makes it another kernel.
inline KernelSource small_kernel(int number = 0) {
  return {.name = "small",
          .text = "template <int kFactor> __global__ void small(int* p) { *p = kFactor; }\n",
          .arguments = {std::to_string(number)}};
}

/// Skips the test, visibly, where there is no NVRTC.
class WithNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    if (!compiler) GTEST_SKIP() << compiler.error().message;
  }
  Expected<Compiler> compiler = Compiler::load();
};

}  // namespace overlaptune::kernels
