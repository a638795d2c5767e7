#include "core/nccl_variables.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

class NcclVariables : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(NcclVariables, the_environment_goes_first_then_the_files_in_their_order) {
  const std::vector<std::string> files{
      file("user.conf", "# NCCL_TEST_A=commented\nNCCL_TEST_A=1\nNCCL_TEST_A=2\nNCCL_TEST_B\n"),
      file("host.conf", "NCCL_TEST_A=3\nNCCL_TEST_B=4\nNCCL_TEST_BB=5"), "/nowhere/nccl.conf"};
  EXPECT_EQ(nccl_variable("NCCL_TEST_A", files), "1");
  EXPECT_EQ(nccl_variable("NCCL_TEST_B", files), "4");
  EXPECT_EQ(nccl_variable("NCCL_TEST_BB", files), "5");
  EXPECT_EQ(nccl_variable("NCCL_TEST_C", files), std::nullopt);
  setenv("NCCL_TEST_A", "0", 1);
  EXPECT_EQ(nccl_variable("NCCL_TEST_A", files), "0");
  unsetenv("NCCL_TEST_A");
}

TEST_F(NcclVariables, the_files_are_those_of_nccl) {
  unsetenv("NCCL_CONF_FILE");
  EXPECT_THAT(nccl_files(),
              testing::ElementsAre(testing::EndsWith("/.nccl.conf"), "/etc/nccl.conf"));
  setenv("NCCL_CONF_FILE", "/tmp/mine.conf", 1);
  EXPECT_THAT(nccl_files(), testing::ElementsAre("/tmp/mine.conf", "/etc/nccl.conf"));
  unsetenv("NCCL_CONF_FILE");
}

}  // namespace
}  // namespace overlaptune
