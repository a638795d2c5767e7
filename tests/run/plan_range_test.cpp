#include "run/streams/plan_range.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace overlaptune::run {
namespace {

TEST(PlanRangeTest, AToolSeesAPlansNameAsLongAsItIsEnqueued) {
  const TemporaryFolder folder;
  const std::string file = folder / "ranges";
  setenv("NVTX_INJECTION64_PATH", NVTX_INJECTION, 1);  // NVTX reads it at its first call
  setenv("RANGES_FILE", file.c_str(), 1);
  const PlanName name("gemm_all_reduce:4096,8192,1024:bf16:2 signaled peer_access");
  {
    const PlanName::Range range(name);
    std::ofstream(file, std::ios::app) << "work\n";
  }
  std::stringstream seen;
  seen << std::ifstream(file).rdbuf();
  EXPECT_EQ(seen.str(),
            "begin overlaptune: gemm_all_reduce:4096,8192,1024:bf16:2 signaled peer_access\n"
            "work\n"
            "end overlaptune\n");
}

}  // namespace
}  // namespace overlaptune::run
