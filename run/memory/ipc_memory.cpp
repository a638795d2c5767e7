#include "run/memory/ipc_memory.hpp"

#include <fmt/format.h>

#include "run/memory/peer_mark.hpp"
#include "run/nccl.hpp"

namespace overlaptune::run {
namespace {

/// Blocks of whole units share no memory with another allocation, so that a mapping begins where
/// the block does (CUDA Programming Guide, "Interprocess Communication").
constexpr std::size_t kUnit = std::size_t{2} << 20;

Expected<void> done(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return bad_input(fmt::format("{}: {}", call, cudaGetErrorString(code)));
}

}  // namespace

Expected<void> IpcMemory::allocate(std::size_t bytes) {
  const std::size_t size = (bytes + kUnit - 1) / kUnit * kUnit;
  void* memory = nullptr;
  if (auto made = done(cudaMalloc(&memory, size), "cudaMalloc"); !made) return made;
  memory_ = std::make_shared<DeviceMemory>(memory);
  bytes_ = size;
  return {};
}

std::byte* IpcMemory::last_word(void* memory) const {
  return static_cast<std::byte*>(memory) + bytes_ - sizeof(std::uint32_t);
}

Expected<void> IpcMemory::map(int peer, cudaIpcMemHandle_t handle) {
  void* address = nullptr;
  auto opened = done(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess),
                     "cudaIpcOpenMemHandle");
  if (!opened) return opened;
  mappings_[static_cast<std::size_t>(peer)] = Mapping(address);
  return check_mark(world_, last_word(address), peer);
}

/// Maps the memory of all peers. Collective; the error is this rank's own.
Expected<void> IpcMemory::map_all() {
  put_mark(world_, last_word(memory()));
  cudaIpcMemHandle_t handle{};
  const auto made = done(cudaIpcGetMemHandle(&handle, memory()), "cudaIpcGetMemHandle");
  // A rank without a handle tells its error below, so that no rank waits for it.
  const auto all = world_.told_by_all(handle);
  if (!made) return bad_input("its own memory: " + made.error().message);
  mappings_.resize(static_cast<std::size_t>(world_.ranks()));
  for (int peer = 0; peer < world_.ranks(); ++peer) {
    if (peer == world_.rank()) continue;
    if (auto mapped = map(peer, all[static_cast<std::size_t>(peer)]); !mapped) {
      return bad_input(fmt::format("the memory of rank {}: {}", peer, mapped.error().message));
    }
  }
  return {};
}

Expected<void> IpcMemory::open() {
  failure_.clear();
  if (out_of_reach_ == OutOfReach::all) {
    failure_ = "NCCL sees the ranks on several hosts";
    return {};
  }
  const Expected<void> here = map_all();
  if (world_.largest(here ? 0 : 1) == 0) {
    take_mark(world_, last_word(memory()));  // it may be one of the flags, which begin at zero
    return {};
  }
  failure_ = here ? "another rank cannot use it (see its error)"
                  : "it does not reach " + here.error().message;
  if (out_of_reach_ == OutOfReach::fails) return bad_input(out_of_reach());
  mappings_.clear();
  return {};
}

std::string IpcMemory::out_of_reach() const {
  return fmt::format("{}, and CUDA IPC does not serve: {}", no_windows_, failure_);
}

std::vector<void*> IpcMemory::attach(ncclComm_t communicator, bool maps) {
  if (!maps || !failure_.empty()) return {};
  const int ranks = ranks_of(communicator);
  std::vector<void*> addresses;
  addresses.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {  // the first ranks of the world
    addresses.push_back(rank == world_.rank() ? memory()
                                              : mappings_.at(static_cast<std::size_t>(rank)).get());
  }
  return addresses;
}

void IpcMemory::forget() {
  for (Mapping& each : mappings_) each.leak();
  mappings_.clear();
  if (memory_) memory_->leak();
}

}  // namespace overlaptune::run
