#pragma once
// The facts by which NCCL chooses the network of this host. NCCL tells no program which one it
// took.

#include <string>

#include "core/network.hpp"

namespace overlaptune::run {

/// `devices`: the folder in which Linux lists InfiniBand and RoCE devices. A device that
/// NCCL_IB_HCA leaves out counts all the same.
[[nodiscard]] NetworkFacts network_facts(const std::string& devices = "/sys/class/infiniband");

}  // namespace overlaptune::run
