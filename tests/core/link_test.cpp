#include "core/link.hpp"

#include <gtest/gtest.h>

#include "core/platform.hpp"

namespace overlaptune {
namespace {

/// NCCL's order: memory of the peer, memory of the host, network (its documentation of
/// NCCL_P2P_DISABLE and NCCL_SHM_DISABLE).
TEST(Link, is_the_fastest_that_nccl_may_use) {
  EXPECT_EQ(link_of({.nvlinks = 18, .peers = true}), Link::nvlink);
  EXPECT_EQ(link_of({.nvlinks = 18, .peers = true, .no_shm = true}), Link::nvlink);
  EXPECT_EQ(link_of({.peers = true}), Link::pcie);
  EXPECT_EQ(link_of({.nvlinks = 18, .peers = true, .no_p2p = true}), Link::host_memory);
  EXPECT_EQ(link_of({.nvlinks = 2}), Link::host_memory);
  EXPECT_EQ(link_of({.nvlinks = 18, .peers = true, .no_p2p = true, .no_shm = true}), Link::socket);
  EXPECT_EQ(link_of({.no_shm = true}), Link::socket);
}

/// Fingerprints cover these names, so they never change.
TEST(Link, names_are_those_of_stored_platforms) {
  EXPECT_EQ(names_of<Link>(), "nvlink, pcie, host_memory, socket");
  EXPECT_TRUE(is_link("socket", Link::socket));
  EXPECT_FALSE(is_link("", Link::socket));
  Platform platform{.machine = "cuda", .gpu_count = 2, .link = "host_memory"};
  EXPECT_EQ(fingerprint(platform), "7f66bb96b7bf6e92");
  platform.link = "socket";
  EXPECT_EQ(fingerprint(platform), "1b9e8fdb96f97803");
}

}  // namespace
}  // namespace overlaptune
