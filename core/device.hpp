#pragma once
// The GPU of one rank with its driver and libraries, and the platform that the GPUs of all ranks
// make.

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/platform.hpp"

namespace overlaptune {

struct Device {
  std::string model;
  int sms = 0;
  int compute_capability = 0;  ///< 10 * major + minor
  Bytes memory{};
  std::string driver_version;
  std::string cuda_version;
  std::string nccl_version;
  std::string topology;  ///< "NVSwitch", "NVLink", "PCIe"
  std::string link;      ///< carrier of peer traffic: "nvlink", "pcie", "host_memory", "socket"
  std::string network;   ///< NCCL's network between nodes (core/network.hpp)
  std::string pci_bus;   ///< "0000:1b:00.0": differs between ranks, so no part of the platform
  int numa_node = -1;
  double power_limit_w = 0;
  double max_sm_clock_mhz = 0;
  bool ecc = false;
};

struct PlacedDevice {
  std::string host;  ///< its name, for messages
  std::string node;  ///< `this_node` of its ranks (core/nodes.hpp)
  Device device{};
};

/// The platform that the ranks share, one device each. Error (`machine_unavailable`): a rank's GPU
/// is of another model than the others', or more than `ranks_per_gpu` ranks share a GPU; the
/// message names the ranks. With more than one rank a GPU, and with several nodes, it has a
/// topology and a link of its own (core/gpu_sharing.hpp, core/nodes.hpp), so that nobody takes its
/// results for those of as many GPUs of one host.
[[nodiscard]] Expected<Platform> platform_of(const std::vector<PlacedDevice>& ranks,
                                             bool multicast_allowed, int ranks_per_gpu = 1);

}  // namespace overlaptune
