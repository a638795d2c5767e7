#pragma once
// The end of communicators that may never come: NCCL ends one only when no CUDA graph holds its
// collectives any more.

#include <chrono>
#include <memory>
#include <vector>

#include "run/handles.hpp"
#include "run/peer_memory.hpp"

namespace overlaptune::run {

using Comm = Handle<ncclComm_t, &ncclCommAbort>;

struct Abandoned {
  std::vector<Comm> comms{};
  // Memory that work of these communicators may still use.
  std::unique_ptr<PeerMemory> memory{};
  DeviceMemory scratch{};
};

/// Aborts the communicators on a thread of its own: their kernels end at once. Then gives the
/// memory back. Returns when this is done, or after `limit`; the thread then goes on until it is
/// done or the process ends.
void abandon(Abandoned what, std::chrono::milliseconds limit);

}  // namespace overlaptune::run
