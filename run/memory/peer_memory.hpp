#pragma once
// Memory that all ranks of a world have, and how a rank reaches that of its peers: by NCCL's
// windows (run/memory/window_memory.hpp), by CUDA IPC where these cannot serve
// (run/memory/ipc_memory.hpp), or by addresses that the caller gives (run/memory/given_memory.hpp).
// run/memory/peer_way.hpp chooses.

#include <cstddef>
#include <memory>
#include <nccl.h>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace overlaptune::run {

class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// This rank's memory; null before `allocate`.
  [[nodiscard]] virtual std::byte* memory() const = 0;

  /// The most bytes that `allocate` may be asked for, where so many are free on the GPU.
  [[nodiscard]] virtual std::size_t room(std::size_t free) const { return free; }
  /// The words after a number of bytes that there is room for, for messages.
  [[nodiscard]] virtual const char* room_is() const { return "are free"; }

  /// Allocates the memory of this rank, which has none. Every rank allocates the same size. Error
  /// (`bad_input`): there is no block of this size; the message is that of CUDA or NCCL.
  [[nodiscard]] virtual Expected<void> allocate(std::size_t bytes) = 0;

  /// Collective, after all ranks have allocated and before `attach`. Error (`bad_input`, on every
  /// rank): a rank cannot reach the memory of a peer, and needs to.
  [[nodiscard]] virtual Expected<void> open() = 0;

  /// Collective on the ranks of the communicator: makes its collectives know the memory. Returns
  /// the addresses of all its ranks' memory on this GPU if `maps`; they are absent where a rank is
  /// out of reach, for the reason `out_of_reach`.
  [[nodiscard]] virtual std::vector<void*> attach(ncclComm_t communicator, bool maps) = 0;

  /// The way to the peers' memory and why a rank is out of reach, for messages.
  [[nodiscard]] virtual std::string out_of_reach() const = 0;

  /// The reason why NCCL's symmetric kernels do not work on this memory; empty where they do.
  [[nodiscard]] virtual std::string not_symmetric() const = 0;

  /// This rank reaches no peer any more. Call it on all ranks, while the communicators live and
  /// before any rank calls `free`.
  virtual void detach() = 0;

  /// The communicators end without the peers: `detach` leaves them alone. This object may then be
  /// destroyed once their work has ended.
  virtual void forget() = 0;

  /// Frees the memory of this rank, unless a `keeper` is left.
  virtual void free() = 0;

  /// Keeps the memory of this rank, which `allocate` has made; null: it is not this object's.
  [[nodiscard]] virtual std::shared_ptr<void> keeper() const = 0;

  /// Another piece of memory of this kind, not allocated; null, on all ranks: there is none, or it
  /// would be out of reach, as this one is.
  [[nodiscard]] virtual std::unique_ptr<PeerMemory> another() const = 0;

 protected:
  PeerMemory() = default;
};

}  // namespace overlaptune::run
