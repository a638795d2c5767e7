#pragma once
// The GPU of one rank and what drives it; of all ranks together, the platform.

#include <string>
#include <vector>

#include "core/error.hpp"
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
  std::string topology;   ///< "NVSwitch", "NVLink", "PCIe"
  std::string transport;  ///< what carries peer traffic: "nvlink", "pcie", "host_memory", "socket"
  std::string pci_bus;    ///< "0000:1b:00.0": differs from rank to rank, no part of the platform
  int numa_node = -1;
  double power_limit_w = 0;
  double max_sm_clock_mhz = 0;
  bool ecc = false;
};

struct PlacedDevice {
  std::string host;
  Device device{};
};

/// The platform that the ranks share, one device each. Error (`machine_unavailable`): the rank
/// whose GPU is another model than the others', or is the GPU of another rank too.
[[nodiscard]] Expected<Platform> platform_of(const std::vector<PlacedDevice>& ranks,
                                             bool multicast_allowed);

}  // namespace overlaptune
