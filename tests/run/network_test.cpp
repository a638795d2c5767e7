#include "run/host/network.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace overlaptune::run {
namespace {

class NetworkFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("NCCL_CONF_FILE", "/nowhere/nccl.conf", 1);
    setenv("NCCL_NET_PLUGIN", "none", 1);
  }
  void TearDown() override {
    for (const char* name : {"NCCL_CONF_FILE", "NCCL_NET_PLUGIN", "NCCL_NET", "NCCL_IB_DISABLE"}) {
      unsetenv(name);
    }
  }
  /// A port as Linux lists it below /sys/class/infiniband.
  void add_port(const std::string& device, const std::string& state) const {
    const auto folder = devices_ / device / "ports" / "1";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state") << state << '\n';
  }
  [[nodiscard]] NetworkFacts facts() const { return network_facts(devices_); }

  TemporaryFolder folder_;
  std::filesystem::path devices_ = folder_ / "infiniband";
};

TEST_F(NetworkFactsTest, AnActivePortIsOneForVerbs) {
  EXPECT_FALSE(facts().verbs);
  add_port("mlx5_0", "1: DOWN");
  EXPECT_FALSE(facts().verbs);
  add_port("mlx5_1", "4: ACTIVE");
  EXPECT_TRUE(facts().verbs);
  setenv("NCCL_IB_DISABLE", "1", 1);
  EXPECT_FALSE(facts().verbs);
}

TEST_F(NetworkFactsTest, APluginTellsItsName) {
  EXPECT_EQ(facts().plugin, "");
  setenv("NCCL_NET_PLUGIN", "/nowhere/net.so," FAKE_NET_PLUGIN, 1);
  EXPECT_EQ(facts().plugin, "Fake Libfabric");
  setenv("NCCL_NET_PLUGIN", OTHER_NCCL, 1);  // a library that is no plugin
  EXPECT_EQ(facts().plugin, "");
}

TEST_F(NetworkFactsTest, TheNetworkThatIsWantedIsNamed) {
  EXPECT_EQ(facts().wanted, "");
  setenv("NCCL_NET", "Socket", 1);
  EXPECT_EQ(facts().wanted, "Socket");
  setenv("NCCL_NET_PLUGIN", FAKE_NET_PLUGIN, 1);
  EXPECT_EQ(network_of(network_facts()), "Socket");
}

}  // namespace
}  // namespace overlaptune::run
