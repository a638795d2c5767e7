#include "run/host/inventory.hpp"

#include <array>
#include <fstream>

#include <fmt/format.h>

#include "core/link.hpp"
#include "core/nccl_variables.hpp"
#include "run/check.hpp"
#include "run/host/network.hpp"
#include "run/nccl.hpp"

namespace overlaptune::run {
namespace {

bool is_set(const char* variable) {
  return nccl_variable(variable) == "1";
}

/// The link that NCCL will use between these GPUs, according to its variables and to the NVLinks.
std::string link(const Nvml::Links& links, bool peers) {
  return std::string(to_string(link_of({.nvlinks = links.active,
                                        .peers = peers,
                                        .no_p2p = is_set("NCCL_P2P_DISABLE"),
                                        .no_shm = is_set("NCCL_SHM_DISABLE")})));
}

std::string topology(const Nvml::Links& links) {
  if (links.active == 0) return "PCIe";
  return fmt::format("{} x{}", links.switched ? "NVSwitch" : "NVLink", links.active);
}

bool has_peers(int device) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return false;
  for (int other = 0; other < count; ++other) {
    int can = 0;
    if (other != device &&
        (cudaDeviceCanAccessPeer(&can, device, other) != cudaSuccess || can == 0)) {
      return false;
    }
  }
  return true;
}

int attribute(int device, int which) {
  int value = 0;
  OVT_CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), device));
  return value;
}

std::string version(int code, int major) {
  return fmt::format("{}.{}", code / major, code % major / 10);
}

int numa_node(const std::string& bus) {
  std::ifstream file("/sys/bus/pci/devices/" + bus + "/numa_node");
  int node = -1;
  file >> node;
  return file ? node : -1;
}

}  // namespace

std::string pci_bus(int device) {
  std::array<char, 32> text{};
  OVT_CHECK(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
  std::string bus(text.data());
  for (char& c : bus) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return bus;
}

int current_device() {
  int device = 0;
  OVT_CHECK(cudaGetDevice(&device));
  return device;
}

int sms_of(int device) {
  return attribute(device, cudaDevAttrMultiProcessorCount);
}

bool multicast_is_on(int device) {
  constexpr int kMulticastSupported = 132;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
  if (nccl_variable("NCCL_NVLS_ENABLE") == "0") return false;
  return attribute(device, kMulticastSupported) != 0;
}

int compute_capability() {
  const int device = current_device();
  return 10 * attribute(device, cudaDevAttrComputeCapabilityMajor) +
         attribute(device, cudaDevAttrComputeCapabilityMinor);
}

Device inventory(int device, const Nvml& nvml) {
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  int cuda = 0;
  int driver = 0;
  int nccl = 0;
  OVT_CHECK(cudaRuntimeGetVersion(&cuda));
  OVT_CHECK(cudaDriverGetVersion(&driver));
  OVT_CHECK(ncclGetVersion(&nccl));
  const Nvml::Links links = nvml.links();
  const std::string bus = pci_bus(device);
  return {.model = properties.name,
          .sms = properties.multiProcessorCount,
          .compute_capability = 10 * properties.major + properties.minor,
          .memory = {static_cast<std::int64_t>(properties.totalGlobalMem)},
          .driver_version = nvml.driver_version().value_or(version(driver, 1000)),
          .cuda_version = version(cuda, 1000),
          .nccl_version = nccl_version_in_words(nccl),
          .topology = topology(links),
          .link = link(links, has_peers(device)),
          .network = network_of(network_facts()),
          .pci_bus = bus,
          .numa_node = numa_node(bus),
          .power_limit_w = nvml.power_limit_w().value_or(0),
          .max_sm_clock_mhz = nvml.max_sm_clock_mhz().value_or(0),
          .ecc = nvml.ecc().value_or(false)};
}

Expected<int> device_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return count;
  return unavailable(fmt::format(
      "CUDA finds no GPU: {}", code == cudaSuccess ? "none is visible" : cudaGetErrorString(code)));
}

}  // namespace overlaptune::run
