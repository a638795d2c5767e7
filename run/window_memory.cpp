#include "run/window_memory.hpp"

#include "kernels/exchange.hpp"

namespace overlaptune::run {
namespace {

/// Whether NCCL has made a window, which is in device memory. Where it has no symmetric memory,
/// NCCL reports no error, and returns null or a handle of its own in host memory.
bool is_window(ncclWindow_t window) {
  if (window == nullptr) return false;
  cudaPointerAttributes attributes{};
  OVT_CHECK(cudaPointerGetAttributes(&attributes, window));
  return attributes.type != cudaMemoryTypeUnregistered;
}

}  // namespace

Expected<void> WindowMemory::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const ncclResult_t made = ncclMemAlloc(&memory, bytes);
  if (made != ncclSuccess) {
    static_cast<void>(cudaGetLastError());
    return bad_input(ncclGetErrorString(made));
  }
  memory_ = NcclMemory(memory);
  bytes_ = bytes;
  return {};
}

std::vector<void*> WindowMemory::attach(ncclComm_t communicator, bool maps) {
  ncclWindow_t window = nullptr;
  OVT_CHECK(
      ncclCommWindowRegister(communicator, memory(), bytes_, &window, NCCL_WIN_COLL_SYMMETRIC));
  windows_.emplace(communicator, window);
  return maps && is_window(window) ? addresses(communicator, window) : std::vector<void*>();
}

/// The addresses of the peers' memory. Empty where not all ranks are in one NVLink domain, or where
/// this NCCL is of another release than the one whose device code was compiled in: each release
/// describes windows in its own way.
std::vector<void*> WindowMemory::addresses(ncclComm_t communicator, ncclWindow_t window) const {
  int version = 0;
  int ranks = 0;
  OVT_CHECK(ncclGetVersion(&version));
  OVT_CHECK(ncclCommCount(communicator, &ranks));
  const bool same = version / 100 == NCCL_VERSION_CODE / 100;
  if (!same || kernels::ranks_in_reach(communicator) != ranks) return {};
  std::vector<void*> found(static_cast<std::size_t>(ranks));
  const std::size_t bytes = found.size() * sizeof(void*);
  const DeviceMemory on_device = device_memory(bytes);
  OVT_CHECK(
      kernels::window_addresses(stream_, window, ranks, static_cast<void**>(on_device.get())));
  OVT_CHECK(cudaMemcpyAsync(found.data(), on_device.get(), bytes, cudaMemcpyDeviceToHost, stream_));
  OVT_CHECK(cudaStreamSynchronize(stream_));
  return found;
}

void WindowMemory::detach() {
  for (const auto& [communicator, window] : windows_) {
    OVT_CHECK(ncclCommWindowDeregister(communicator, window));
  }
  windows_.clear();
}

}  // namespace overlaptune::run
