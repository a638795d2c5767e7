#pragma once
// The network by which NCCL joins nodes, as NCCL names it: "IB", "Socket", or the name of a plugin.

#include <string>

namespace overlaptune {

/// The facts by which NCCL chooses its network.
struct NetworkFacts {
  std::string wanted;  ///< NCCL_NET; empty: NCCL chooses
  std::string plugin;  ///< name of the network of a plugin that can be loaded; empty: there is none
  bool verbs = false;  ///< a port of InfiniBand or RoCE is active, and NCCL may use it
};

/// NCCL takes the first network that has a device: the plugin's, "IB", "Socket". With NCCL_NET it
/// takes the one of that name, in any case of letters. A plugin for InfiniBand ("IBext_v10") has
/// devices where "IB" has.
[[nodiscard]] std::string network_of(const NetworkFacts& facts);

/// The name as a part of a platform's name: "AWS Libfabric" is "aws-libfabric".
[[nodiscard]] std::string short_network(const std::string& network);

}  // namespace overlaptune
