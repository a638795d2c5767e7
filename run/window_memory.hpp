#pragma once
// Memory in NCCL's windows: its symmetric kernels may use it, and it is mapped on the peers' GPUs.

#include <map>

#include "run/handles.hpp"
#include "run/peer_memory.hpp"

namespace overlaptune::run {

class WindowMemory : public PeerMemory {
 public:
  /// `stream`: for the work by which addresses are found.
  explicit WindowMemory(cudaStream_t stream) : stream_(stream) {}

  [[nodiscard]] std::byte* memory() const override {
    return static_cast<std::byte*>(memory_.get());
  }
  [[nodiscard]] Expected<void> allocate(std::size_t bytes) override;
  [[nodiscard]] Expected<void> open() override { return {}; }
  [[nodiscard]] std::vector<void*> attach(ncclComm_t communicator, bool maps) override;
  void detach() override;
  void forget() override { windows_.clear(); }
  void free() override { memory_ = {}; }

 private:
  [[nodiscard]] std::vector<void*> addresses(ncclComm_t communicator, ncclWindow_t window) const;

  cudaStream_t stream_;
  NcclMemory memory_{};
  std::size_t bytes_ = 0;
  std::map<ncclComm_t, ncclWindow_t> windows_{};
};

}  // namespace overlaptune::run
