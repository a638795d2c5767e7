#pragma once
// Memory for ranks that share a GPU: CUDA IPC maps it in the other processes of the host. NCCL
// takes such ranks for ranks of different hosts, so its windows do not reach the peers.

#include "run/handles.hpp"
#include "run/peer_memory.hpp"

namespace overlaptune::run {

class World;

class IpcMemory : public PeerMemory {
 public:
  /// `world`: the ranks, by which handles are exchanged. All of them are on one host.
  explicit IpcMemory(World& world) : world_(world) {}

  [[nodiscard]] std::byte* memory() const override {
    return static_cast<std::byte*>(memory_.get());
  }
  [[nodiscard]] Expected<void> allocate(std::size_t bytes) override;
  /// Maps the peers' memory, and looks whether it is theirs.
  [[nodiscard]] Expected<void> open() override;
  [[nodiscard]] std::vector<void*> attach(ncclComm_t communicator, bool maps) override;
  void detach() override { mappings_.clear(); }
  /// Leaves the memory and the mappings to the end of the process: a peer may still use this rank's
  /// memory, which CUDA does not keep for it.
  void forget() override;
  void free() override { memory_ = {}; }

 private:
  using Mapping = Handle<void*, &cudaIpcCloseMemHandle>;

  [[nodiscard]] Expected<cudaIpcMemHandle_t> exported() const;
  [[nodiscard]] Expected<void> map(int peer, cudaIpcMemHandle_t handle);
  [[nodiscard]] std::byte* last_word(void* memory) const;

  World& world_;
  DeviceMemory memory_{};
  std::size_t bytes_ = 0;
  std::vector<Mapping> mappings_{};  ///< by rank; no mapping at this rank's own place
};

}  // namespace overlaptune::run
