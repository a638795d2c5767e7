#pragma once
// The link that carries the traffic between the GPUs of a platform.

#include <array>
#include <string_view>

#include "core/base/names.hpp"

namespace overlaptune {

/// From the fastest to the slowest.
enum class Link {
  nvlink,
  pcie,         ///< GPUs reach each other's memory over PCIe
  host_memory,  ///< NCCL copies through memory of the host that two ranks share
  socket,       ///< NCCL sends through its network: no memory is shared
};

template <>
struct NamesOf<Link> {
  static constexpr std::string_view what = "link";
  static constexpr std::array<Named<Link>, 4> all{{{Link::nvlink, "nvlink"},
                                                   {Link::pcie, "pcie"},
                                                   {Link::host_memory, "host_memory"},
                                                   {Link::socket, "socket"}}};
};

/// The facts by which NCCL chooses the link.
struct LinkFacts {
  int nvlinks = 0;      ///< NVLinks of the GPU that are up
  bool peers = false;   ///< the GPU reaches the memory of every other one
  bool no_p2p = false;  ///< NCCL_P2P_DISABLE=1
  bool no_shm = false;  ///< NCCL_SHM_DISABLE=1
};

[[nodiscard]] constexpr Link link_of(const LinkFacts& facts) {
  if (!facts.no_p2p && facts.peers) return facts.nvlinks > 0 ? Link::nvlink : Link::pcie;
  return facts.no_shm ? Link::socket : Link::host_memory;
}

/// Whether a platform's link has this name.
[[nodiscard]] constexpr bool is_link(std::string_view name, Link link) {
  return name == to_string(link);
}

}  // namespace overlaptune
