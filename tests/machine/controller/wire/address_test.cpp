#include "machine/controller/wire/address.hpp"

#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

TEST(Address, of_ipv6_stands_in_brackets_before_a_port) {
  EXPECT_EQ(host_and_port("node0", 29500), "node0:29500");
  EXPECT_EQ(host_and_port("10.0.0.7", 1), "10.0.0.7:1");
  EXPECT_EQ(host_and_port("fd00::2", 29500), "[fd00::2]:29500");
}

TEST(Address, brackets_are_taken_away_where_both_are_there) {
  EXPECT_EQ(without_brackets("[::1]"), "::1");
  EXPECT_EQ(without_brackets("::1"), "::1");
  EXPECT_EQ(without_brackets("[::1"), "[::1");
  EXPECT_EQ(without_brackets("node0"), "node0");
  EXPECT_EQ(without_brackets(""), "");
}

TEST(Address, of_the_loopback_is_known_in_each_spelling) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"node0", "10.127.0.1", "fd00::1", "::", "[::1]", ""}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
  EXPECT_EQ(loopback_for("0:0:0:0:0:0:0:1"), "::1");
  EXPECT_EQ(loopback_for("fd00::1"), "127.0.0.1");
  EXPECT_EQ(loopback_for("node0"), "127.0.0.1");
}

}  // namespace
}  // namespace overlaptune::cuda
