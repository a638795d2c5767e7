#include "core/network.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// NCCL's order (its documentation of NCCL_NET and NCCL_NET_PLUGIN): a plugin's, InfiniBand,
/// sockets.
TEST(Network, is_the_first_that_has_a_device) {
  EXPECT_EQ(network_of({}), "Socket");
  EXPECT_EQ(network_of({.verbs = true}), "IB");
  EXPECT_EQ(network_of({.plugin = "AWS Libfabric"}), "AWS Libfabric");
  EXPECT_EQ(network_of({.plugin = "AWS Libfabric", .verbs = true}), "AWS Libfabric");
}

/// Images have this plugin on hosts without such devices, too, where it gives way.
TEST(Network, a_plugin_for_infiniband_needs_a_port) {
  EXPECT_EQ(network_of({.plugin = "IBext_v10", .verbs = true}), "IBext_v10");
  EXPECT_EQ(network_of({.plugin = "IBext_v10"}), "Socket");
}

TEST(Network, is_the_one_that_nccl_net_names) {
  EXPECT_EQ(network_of({.wanted = "socket", .plugin = "IBext_v10", .verbs = true}), "Socket");
  EXPECT_EQ(network_of({.wanted = "ib", .plugin = "IBext_v10", .verbs = true}), "IB");
  EXPECT_EQ(network_of({.wanted = "Mine"}), "Mine");
}

TEST(Network, has_a_short_name) {
  EXPECT_EQ(short_network("Socket"), "socket");
  EXPECT_EQ(short_network("IBext_v10"), "ibext_v10");
  EXPECT_EQ(short_network("AWS Libfabric"), "aws-libfabric");
  EXPECT_EQ(short_network("IB+Socket"), "ib-socket");
}

}  // namespace
}  // namespace overlaptune
