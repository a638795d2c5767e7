#pragma once
// Kernels made up for tests, and a folder of their own for their cache.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "kernels/compiler.hpp"

namespace overlaptune::kernels {

/// Stores a factor; `number` makes it another kernel.
inline KernelSource small_kernel(int number = 0) {
  return {.name = "small",
          .text = "template <int kFactor> __global__ void small(int* p) { *p = kFactor; }\n",
          .arguments = {std::to_string(number)}};
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "overlaptune-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Skips the test, visibly, where there is no NVRTC.
class WithNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    if (!compiler) GTEST_SKIP() << compiler.error().message;
  }
  Expected<Compiler> compiler = Compiler::load();
};

}  // namespace overlaptune::kernels
