#include "run/ranks.hpp"

#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

int attribute(int device, int which) {
  int value = 0;
  OVT_CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), device));
  return value;
}

}  // namespace

OnDevice::OnDevice(int device) {
  OVT_CHECK(cudaGetDevice(&before_));
  if (device == before_) return;
  OVT_CHECK(cudaSetDevice(device));
  changed_ = true;
}

OnDevice::~OnDevice() {
  if (changed_) static_cast<void>(cudaSetDevice(before_));
}

int device_of(ncclComm_t comm) {
  int device = 0;
  OVT_CHECK(ncclCommCuDevice(comm, &device));
  return device;
}

bool multicast_is_on(int device) {
  constexpr int kMulticastSupported = 132;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
  const char* enabled = std::getenv("NCCL_NVLS_ENABLE");
  if (enabled != nullptr && std::strcmp(enabled, "0") == 0) return false;
  return attribute(device, kMulticastSupported) != 0;
}

Ranks::Ranks(ncclComm_t comm, bool multicast)
    : device(device_of(comm)),
      sms(attribute(device, cudaDevAttrMultiProcessorCount)),
      allow_multicast(multicast),
      world(comm),
      library(world) {}

Ranks::~Ranks() {
  constexpr std::chrono::seconds kOthers{10};
  try {
    world.part(kOthers);
  } catch (const Failure&) {  // a rank is lost; a destructor cannot report it
    world.abandon();          // memory is given back once nothing runs
    static_cast<void>(cudaGetLastError());
  }
}

std::vector<std::uint64_t> told(World& world, std::uint64_t mine) {
  const auto bytes = world.gathered(std::as_bytes(std::span(&mine, 1)));
  std::vector<std::uint64_t> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace overlaptune::run
