#pragma once
// Memory for a world that the caller gives: here by CUDA IPC, as another library may have mapped
// it.

#include <cstdint>
#include <overlaptune/run.h>
#include <vector>

#include "run/handles.hpp"

namespace overlaptune::plan_check {

class GivenPeers {
 public:
  /// Collective on the communicator, whose ranks are on this host. No memory at all: `bytes` = 0.
  GivenPeers(ncclComm_t comm, int rank, int ranks, std::int64_t bytes);

  /// Options of a world that takes this memory. They point into this object, which outlives the
  /// world.
  [[nodiscard]] ovt_world_options options() const;

 private:
  using Mapping = run::Handle<void*, &cudaIpcCloseMemHandle>;

  std::int64_t bytes_;
  run::DeviceMemory own_{};
  std::vector<Mapping> mappings_{};
  std::vector<void*> peers_{};
};

}  // namespace overlaptune::plan_check
