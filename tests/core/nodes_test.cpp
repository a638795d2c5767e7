#include "core/nodes.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using Strings = std::vector<std::string>;

TEST(Nodes, are_counted_in_the_order_of_ranks) {
  const Nodes even = nodes_of(Strings{"a", "a", "b", "b"});
  EXPECT_EQ(even.ranks, (std::vector{2, 2}));
  EXPECT_FALSE(even.in_turn);
  EXPECT_EQ(short_shape(even), "2x2");
  EXPECT_EQ(shape_in_words(even), "2 nodes x 2 GPUs");
  const Nodes uneven = nodes_of(Strings{"a", "a", "a", "b"});
  EXPECT_EQ(uneven.ranks, (std::vector{3, 1}));
  EXPECT_EQ(short_shape(uneven), "3+1");
  EXPECT_EQ(shape_in_words(uneven), "2 nodes of 3+1 GPUs");
  EXPECT_EQ(nodes_of(Strings{"a"}).ranks, std::vector{1});
}

/// The first ranks of such a job are on different nodes, which changes every smaller group.
TEST(Nodes, whose_ranks_alternate_are_told_apart) {
  const Nodes nodes = nodes_of(Strings{"a", "b", "a", "b"});
  EXPECT_EQ(nodes.ranks, (std::vector{2, 2}));
  EXPECT_TRUE(nodes.in_turn);
  EXPECT_EQ(short_shape(nodes), "2x2-in-turn");
  EXPECT_EQ(shape_in_words(nodes), "2 nodes x 2 GPUs, ranks in turn");
  EXPECT_TRUE(nodes_of(Strings{"a", "b", "a"}).in_turn);
  EXPECT_FALSE(nodes_of(Strings{"a", "b", "c"}).in_turn);
}

TEST(Nodes, are_told_apart_as_nccl_does) {
  unsetenv("NCCL_HOSTID");
  const std::string by_name = this_node();
  EXPECT_EQ(this_node(), by_name);
  setenv("NCCL_HOSTID", "first", 1);
  const std::string first = this_node();
  setenv("NCCL_HOSTID", "second", 1);
  const std::string second = this_node();
  unsetenv("NCCL_HOSTID");
  EXPECT_NE(first, by_name);
  EXPECT_NE(first, second);
  EXPECT_EQ(this_node(), by_name);
}

TEST(Nodes, are_joined_by_a_link_of_their_own) {
  EXPECT_EQ(network_link("Socket"), "network Socket");
  EXPECT_TRUE(spans_nodes({.link = network_link("IB")}));
  for (const char* link : {"nvlink", "socket", "shared_gpu", ""}) {
    EXPECT_FALSE(spans_nodes({.link = link})) << link;
  }
}

}  // namespace
}  // namespace overlaptune
