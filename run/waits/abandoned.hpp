#pragma once
// The end of communicators that may never come: NCCL ends one only when no CUDA graph holds its
// collectives any more.

#include <chrono>
#include <memory>
#include <vector>

#include "run/handles.hpp"
#include "run/memory/peer_memory.hpp"

namespace overlaptune::run {

using Comm = Handle<ncclComm_t, &ncclCommAbort>;

struct Abandoned {
  std::vector<Comm> comms{};
  // Parts that kernels and copies may still use when `comms` have ended: communicators whose
  // windows give the memory its addresses, and the memory.
  std::vector<Comm> mapping{};
  std::unique_ptr<PeerMemory> memory{};
  std::unique_ptr<PeerMemory> results{};
  DeviceMemory scratch{};
  HostMemory host{};
};

/// Waits for all work of the current GPU, as every cudaFree does; also while graphs are captured,
/// which it does not disturb. False: the GPU has failed, or a graph is captured and no memory is
/// left.
[[nodiscard]] bool waited_until_idle();

/// A keeper of memory that kernels of the program may still use when it goes: the memory goes when
/// the GPU is idle, on a thread of its own. Nobody waits for that; where it cannot be done, the
/// memory stays. There is no such thread where the memory was taken out before.
[[nodiscard]] std::shared_ptr<std::shared_ptr<void>> kept_until_idle(std::shared_ptr<void> memory);

/// Aborts the communicators, each on a thread of its own: their kernels end at once. Waits for the
/// work of the GPU, and gives the rest back. Returns when this is done, or after `limit`; the
/// threads then go on until they are done or the process ends.
void abandon(Abandoned what, std::chrono::milliseconds limit);

}  // namespace overlaptune::run
