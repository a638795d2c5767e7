#pragma once
// Nodes: the hosts of a platform's ranks, as NCCL tells hosts apart. Ranks of one node reach one
// another's memory; between nodes NCCL sends by its network (core/network.hpp).

#include <string>
#include <string_view>
#include <vector>

#include "core/platform.hpp"

namespace overlaptune {

/// The node of this process: a hash of what NCCL takes for a host's identity (`getHostHash` in its
/// sources): NCCL_HOSTID where that is set, else the host's name with the kernel's random number of
/// its boot.
[[nodiscard]] std::string this_node();

/// The ranks of each node.
struct Nodes {
  std::vector<int> ranks{};  ///< by node, in the order of their first ranks
  bool in_turn = false;      ///< a node's ranks do not follow one another
};

/// `nodes`: the node of each rank.
[[nodiscard]] Nodes nodes_of(const std::vector<std::string>& nodes);

/// "2x4" for two nodes of four GPUs, "3+1" for nodes of different sizes; "-in-turn" follows where
/// that is so.
[[nodiscard]] std::string short_shape(const Nodes& nodes);
/// "2 nodes x 4 GPUs", "2 nodes of 3+1 GPUs, ranks in turn".
[[nodiscard]] std::string shape_in_words(const Nodes& nodes);

/// `Platform::link` where there are several nodes: "network Socket".
[[nodiscard]] std::string network_link(std::string_view network);

/// Whether the ranks of a platform are on several nodes.
[[nodiscard]] bool spans_nodes(const Platform& platform);

}  // namespace overlaptune
