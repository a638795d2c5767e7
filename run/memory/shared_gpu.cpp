#include "run/memory/shared_gpu.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace overlaptune::run {
namespace {

/// The identity of a GPU, and of nothing else: parts of a GPU that are lent out one by one (MIG)
/// have the same bus and different UUIDs.
struct GpuIdentity {
  std::array<char, 16> uuid{};
  std::array<int, 3> bus{};
  friend bool operator==(const GpuIdentity&, const GpuIdentity&) = default;
};

GpuIdentity identity_of_current() {
  int device = 0;
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  GpuIdentity identity{
      .bus = {properties.pciDomainID, properties.pciBusID, properties.pciDeviceID}};
  static_assert(sizeof properties.uuid.bytes == sizeof identity.uuid);
  std::memcpy(identity.uuid.data(), properties.uuid.bytes, sizeof identity.uuid);
  return identity;
}

}  // namespace

int most_ranks_on_a_gpu(World& world) {
  const GpuIdentity mine = identity_of_current();
  const auto bytes = world.gathered(std::as_bytes(std::span(&mine, 1)));
  std::vector<GpuIdentity> all(static_cast<std::size_t>(world.ranks()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  std::ptrdiff_t most = 1;
  for (const GpuIdentity& each : all)
    most = std::max(most, std::count(all.begin(), all.end(), each));
  return static_cast<int>(most);
}

}  // namespace overlaptune::run
