#pragma once
// Memory in NCCL's windows: its symmetric kernels may use it, and it is mapped on the peers' GPUs.

#include <cstdint>
#include <map>

#include "run/handles.hpp"
#include "run/memory/peer_memory.hpp"

namespace overlaptune::run {

/// The first fields of a window in device memory, the same in NCCL 2.28.3 to 2.30.7
/// (`ncclWindow_vidmem` in nccl_device/impl/core__types.h).
struct WindowFields {
  void* host = nullptr;
  std::byte* first = nullptr;  ///< of rank 0 of the NVLink domain
  int rank_in_domain = 0;
  int rank = 0;
  std::uint32_t stride = 0;  ///< from rank to rank, in units of 2^32 bytes
};

/// The address on this GPU of the first byte of a rank's window.
[[nodiscard]] void* address_in(const WindowFields& window, int rank);

class WindowMemory : public PeerMemory {
 public:
  /// `stream`: for the work by which addresses are found.
  explicit WindowMemory(cudaStream_t stream) : stream_(stream) {}

  [[nodiscard]] std::byte* memory() const override {
    return memory_ ? static_cast<std::byte*>(memory_->get()) : nullptr;
  }
  [[nodiscard]] Expected<void> allocate(std::size_t bytes) override;
  [[nodiscard]] Expected<void> open() override { return {}; }
  [[nodiscard]] std::vector<void*> attach(ncclComm_t communicator, bool maps) override;
  [[nodiscard]] std::string out_of_reach() const override;
  [[nodiscard]] std::string not_symmetric() const override;
  void detach() override;
  void forget() override { windows_.clear(); }
  void free() override { memory_.reset(); }
  [[nodiscard]] std::shared_ptr<void> keeper() const override { return memory_; }
  [[nodiscard]] std::unique_ptr<PeerMemory> another() const override {
    return std::make_unique<WindowMemory>(stream_);
  }

 private:
  [[nodiscard]] std::vector<void*> addresses(ncclComm_t communicator, ncclWindow_t window) const;
  [[nodiscard]] std::vector<void*> computed_addresses(ncclWindow_t window, int ranks) const;

  cudaStream_t stream_;
  std::shared_ptr<NcclMemory> memory_{};
  std::size_t bytes_ = 0;
  bool has_window_ = true;
  std::map<ncclComm_t, ncclWindow_t> windows_{};
};

}  // namespace overlaptune::run
