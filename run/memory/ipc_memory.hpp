#pragma once
// Memory for ranks that NCCL's windows do not serve: CUDA IPC maps it in the other processes of the
// host.

#include <string>

#include "run/handles.hpp"
#include "run/memory/peer_memory.hpp"

namespace overlaptune::run {

class World;

class IpcMemory : public PeerMemory {
 public:
  /// Consequence for memory that a rank cannot reach. `fails`: `open` fails. `remains`: plans that
  /// reach no peer go on. `all`: they do, and ranks are on several hosts: there is nothing to try.
  enum class OutOfReach { fails, remains, all };

  /// `world`: the ranks, by which handles are exchanged. `no_windows`: why NCCL's windows do not
  /// serve, for messages.
  IpcMemory(World& world, OutOfReach out_of_reach, std::string no_windows)
      : world_(world), out_of_reach_(out_of_reach), no_windows_(std::move(no_windows)) {}

  [[nodiscard]] std::byte* memory() const override {
    return memory_ ? static_cast<std::byte*>(memory_->get()) : nullptr;
  }
  [[nodiscard]] Expected<void> allocate(std::size_t bytes) override;
  /// Maps the peers' memory, and looks whether it is theirs.
  [[nodiscard]] Expected<void> open() override;
  [[nodiscard]] std::vector<void*> attach(ncclComm_t communicator, bool maps) override;
  [[nodiscard]] std::string out_of_reach() const override;
  [[nodiscard]] std::string not_symmetric() const override { return no_windows_; }
  void detach() override { mappings_.clear(); }
  /// Leaves the memory and the mappings to the end of the process: a peer may still use this rank's
  /// memory, which CUDA does not keep for it.
  void forget() override;
  void free() override { memory_.reset(); }
  [[nodiscard]] std::shared_ptr<void> keeper() const override { return memory_; }
  [[nodiscard]] std::unique_ptr<PeerMemory> another() const override {
    if (!failure_.empty()) return nullptr;  // on all ranks
    return std::make_unique<IpcMemory>(world_, OutOfReach::fails, no_windows_);
  }

 private:
  using Mapping = Handle<void*, &cudaIpcCloseMemHandle>;

  [[nodiscard]] Expected<void> map_all();
  [[nodiscard]] Expected<void> map(int peer, cudaIpcMemHandle_t handle);
  [[nodiscard]] std::byte* last_word(void* memory) const;

  World& world_;
  OutOfReach out_of_reach_;
  std::string no_windows_;
  std::string failure_{};  ///< of the last `open`
  std::shared_ptr<DeviceMemory> memory_{};
  std::size_t bytes_ = 0;
  std::vector<Mapping> mappings_{};  ///< by rank; no mapping at this rank's own place
};

}  // namespace overlaptune::run
