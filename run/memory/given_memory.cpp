#include "run/memory/given_memory.hpp"

#include <fmt/format.h>

#include "run/memory/peer_mark.hpp"
#include "run/nccl.hpp"

namespace overlaptune::run {
namespace {

std::byte* last_word(std::byte* memory, std::size_t bytes) {
  return memory + bytes - sizeof(std::uint32_t);
}

/// Error (`bad_input`): `objection_to`, or CUDA's.
Expected<void> look_up(const void* address, std::optional<int> own_gpu) {
  cudaPointerAttributes found{};
  const cudaError_t asked = cudaPointerGetAttributes(&found, address);
  if (asked != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return bad_input(cudaGetErrorString(asked));
  }
  const std::string objection = objection_to(found, own_gpu);
  return objection.empty() ? Expected<void>() : bad_input(objection);
}

}  // namespace

std::string objection_to(const cudaPointerAttributes& memory, std::optional<int> own_gpu) {
  if (memory.type != cudaMemoryTypeDevice) {
    return memory.type == cudaMemoryTypeUnregistered
               ? "CUDA does not know it: expected a GPU's memory that is mapped in this process"
               : "it is host or managed memory: expected a GPU's";
  }
  if (!own_gpu || memory.device == *own_gpu) return "";
  return fmt::format("it is memory of GPU {}: expected that of this rank's own, GPU {}",
                     memory.device, *own_gpu);
}

void check_given(const WorldOptions& options, int rank, int gpu) {
  for (std::size_t peer = 0; peer < options.peers.size(); ++peer) {
    auto* const first = static_cast<std::byte*>(options.peers[peer]);
    const auto own_gpu = peer == static_cast<std::size_t>(rank) ? std::optional(gpu) : std::nullopt;
    for (const void* const word : {first, last_word(first, options.peer_bytes)}) {
      if (const auto fit = look_up(word, own_gpu); !fit) {
        throw Failure(ErrorKind::bad_input,
                      fmt::format("ovt_world_options.peers[{}], byte {} of {}: {}", peer,
                                  static_cast<const std::byte*>(word) - first, options.peer_bytes,
                                  fit.error().message));
      }
    }
  }
}

std::byte* GivenMemory::of(int rank) const {
  return static_cast<std::byte*>(world_.options().peers.at(static_cast<std::size_t>(rank)));
}

std::size_t GivenMemory::room(std::size_t /*free*/) const {
  return world_.options().peer_bytes;
}

Expected<void> GivenMemory::allocate(std::size_t bytes) {
  const std::size_t given = world_.options().peer_bytes;
  if (bytes > given) {
    return bad_input(
        fmt::format("ovt_world_options.peer_bytes = {}: expected at least {}", given, bytes));
  }
  used_ = true;
  return {};
}

Expected<void> GivenMemory::look(int peer) const {
  auto there = check_mark(world_, last_word(of(peer), world_.options().peer_bytes), peer);
  if (there) return there;
  return bad_input(fmt::format("ovt_world_options.peers[{}]: {}", peer, there.error().message));
}

Expected<void> GivenMemory::open() {
  put_mark(world_, last_word(memory(), world_.options().peer_bytes));
  static_cast<void>(world_.largest(0));  // all marks are there
  Expected<void> here;
  for (int peer = 0; peer < world_.ranks() && here; ++peer) here = look(peer);
  if (world_.largest(here ? 0 : 1) == 0) {
    // It may be one of the flags, which begin at zero.
    take_mark(world_, last_word(memory(), world_.options().peer_bytes));
    return {};
  }
  if (!here) return here;
  return bad_input("ovt_world_options.peers: another rank has a wrong address: see its error");
}

std::vector<void*> GivenMemory::attach(ncclComm_t communicator, bool maps) {
  if (!maps) return {};
  const auto& peers = world_.options().peers;
  return {peers.begin(), peers.begin() + ranks_of(communicator)};  // the first ranks of the world
}

std::string GivenMemory::out_of_reach() const {
  return "the caller's memory (ovt_world_options.peers) does not reach all ranks";
}

std::string GivenMemory::not_symmetric() const {
  return "the world's memory is the caller's (ovt_world_options.peers), which is no window of NCCL";
}

}  // namespace overlaptune::run
