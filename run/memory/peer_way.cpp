#include "run/memory/peer_way.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "core/nccl_variables.hpp"
#include "core/nodes.hpp"
#include "run/host/inventory.hpp"
#include "run/memory/given_memory.hpp"
#include "run/memory/ipc_memory.hpp"
#include "run/memory/window_memory.hpp"
#include "run/nccl.hpp"

namespace overlaptune::run {
namespace {

/// The facts of a rank on which the choice depends, as bytes that ranks tell each other.
struct Offered {
  std::array<char, 208> against_windows{};
  std::uint64_t peer_bytes = 0;
};

/// Whether CUDA IPC takes memory of `ncclMemAlloc`: then NCCL allocates as `cudaMalloc` does, and
/// has no windows.
bool allocates_without_windows() {
  WindowMemory memory(nullptr);
  constexpr std::size_t kLittle = std::size_t{2} << 20;
  if (!memory.allocate(kLittle)) return false;  // the world's own memory will tell
  cudaIpcMemHandle_t handle{};
  const bool takes = cudaIpcGetMemHandle(&handle, memory.memory()) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return takes;
}

/// Collective: what every rank tells.
std::vector<Offered> offered_by_all(World& world) {
  Offered mine{.peer_bytes = world.options().peer_bytes};
  if (mine.peer_bytes == 0 && !world.shares_gpu()) {
    reason_against_windows().copy(mine.against_windows.data(), mine.against_windows.size() - 1);
  }
  return world.told_by_all(mine);
}

/// Throws on every rank where they do not all give memory of this size, or none.
void check_given(const std::vector<Offered>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].peer_bytes == all.front().peer_bytes) continue;
    throw Failure(ErrorKind::bad_input,
                  fmt::format("ovt_world_options.peer_bytes: {} on rank 0, {} on rank {}: expected "
                              "the same on all ranks",
                              all.front().peer_bytes, all[rank].peer_bytes, rank));
  }
}

/// The identity of a GPU, and of nothing else: parts of a GPU that are lent out one by one (MIG)
/// have the same bus and different UUIDs.
struct GpuIdentity {
  std::array<char, 16> uuid{};
  std::array<int, 3> bus{};
  friend bool operator==(const GpuIdentity&, const GpuIdentity&) = default;
};

GpuIdentity identity_of_current() {
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDeviceProperties(&properties, current_device()));
  GpuIdentity identity{
      .bus = {properties.pciDomainID, properties.pciBusID, properties.pciDeviceID}};
  static_assert(sizeof properties.uuid.bytes == sizeof identity.uuid);
  std::memcpy(identity.uuid.data(), properties.uuid.bytes, sizeof identity.uuid);
  return identity;
}

}  // namespace

int most_ranks_on_a_gpu(World& world) {
  const std::vector<GpuIdentity> all = world.told_by_all(identity_of_current());
  std::ptrdiff_t most = 1;
  for (const GpuIdentity& each : all) most = std::max(most, std::ranges::count(all, each));
  return static_cast<int>(most);
}

bool are_on_one_node(World& world) {
  std::array<char, 40> mine{};
  this_node().copy(mine.data(), mine.size() - 1);
  return std::ranges::all_of(world.told_by_all(mine),
                             [&](const auto& node) { return node == mine; });
}

std::string reason_against_windows() {
  const NewerNccl& nccl = newer_nccl();
  if (!nccl.maps_windows()) {
    return fmt::format("NCCL {} does not tell where peers' windows are (ncclTeamLsa, since 2.28.3)",
                       nccl_version_in_words(nccl.version));
  }
  for (const char* const name : {"NCCL_CUMEM_ENABLE", "NCCL_WIN_ENABLE"}) {
    if (nccl_variable(name) == "0") return fmt::format("NCCL has no windows with {}=0", name);
  }
  if (allocates_without_windows()) return "NCCL has no windows here, because it cannot use cuMem";
  return "";
}

std::unique_ptr<PeerMemory> chosen_peer_memory(World& world) {
  const std::vector<Offered> all = offered_by_all(world);
  check_given(all);
  if (all.front().peer_bytes > 0) return std::make_unique<GivenMemory>(world);
  if (world.shares_gpu()) {
    return std::make_unique<IpcMemory>(world, IpcMemory::OutOfReach::fails,
                                       "two ranks share a GPU, which NCCL's windows do not serve");
  }
  const auto objector = std::find_if(all.begin(), all.end(), [](const Offered& rank) {
    return rank.against_windows.front() != '\0';
  });
  if (objector == all.end()) return std::make_unique<WindowMemory>(world.stream());
  return std::make_unique<IpcMemory>(
      world, are_on_one_node(world) ? IpcMemory::OutOfReach::remains : IpcMemory::OutOfReach::all,
      objector->against_windows.data());
}

}  // namespace overlaptune::run
