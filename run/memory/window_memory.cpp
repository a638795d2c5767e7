#include "run/memory/window_memory.hpp"

#include <algorithm>

#include "run/nccl.hpp"

namespace overlaptune::run {

void* address_in(const WindowFields& window, int rank) {
  constexpr std::uint64_t kStrideUnit = std::uint64_t{1} << 32;
  return window.first + static_cast<std::uint64_t>(rank) * window.stride * kStrideUnit;
}

namespace {

/// Whether NCCL has made a window, which is in device memory. Where it has no symmetric memory,
/// NCCL reports no error, and returns null or a handle of its own in host memory.
bool is_window(ncclWindow_t window) {
  if (window == nullptr) return false;
  cudaPointerAttributes attributes{};
  OVT_CHECK(cudaPointerGetAttributes(&attributes, window));
  return attributes.type != cudaMemoryTypeUnregistered;
}

std::vector<void*> asked_addresses(const NewerNccl& nccl, ncclWindow_t window, int ranks) {
  std::vector<void*> found(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    OVT_CHECK(nccl.peer_pointer(window, 0, rank, &found[static_cast<std::size_t>(rank)]));
  }
  return found;
}

}  // namespace

Expected<void> WindowMemory::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const ncclResult_t made = ncclMemAlloc(&memory, bytes);
  if (made != ncclSuccess) {
    static_cast<void>(cudaGetLastError());
    return bad_input(ncclGetErrorString(made));
  }
  memory_ = std::make_shared<NcclMemory>(memory);
  bytes_ = bytes;
  return {};
}

std::vector<void*> WindowMemory::attach(ncclComm_t communicator, bool maps) {
  ncclWindow_t window = nullptr;
  OVT_CHECK(
      ncclCommWindowRegister(communicator, memory(), bytes_, &window, NCCL_WIN_COLL_SYMMETRIC));
  windows_.emplace(communicator, window);
  if (!maps) return {};
  has_window_ = is_window(window);
  return has_window_ ? addresses(communicator, window) : std::vector<void*>();
}

std::string WindowMemory::not_symmetric() const {
  const int version = newer_nccl().version;
  if (version >= kFirstEndingSymmetric) return "";
  return "the symmetric kernels of NCCL " + nccl_version_in_words(version) +
         " never end where a rank does not come; those of " +
         nccl_version_in_words(kFirstEndingSymmetric) + " and later can be ended";
}

std::string WindowMemory::out_of_reach() const {
  return has_window_
             ? "NCCL's windows do not reach all ranks: not all GPUs are in one NVLink domain"
             : "NCCL has made no window of the world's memory, and did not say why: set "
               "NCCL_DEBUG=INFO to see it";
}

/// The addresses of the peers' memory. Empty where not all ranks are in one NVLink domain.
std::vector<void*> WindowMemory::addresses(ncclComm_t communicator, ncclWindow_t window) const {
  const int ranks = ranks_of(communicator);
  const NewerNccl& nccl = newer_nccl();
  std::vector<void*> found;
  if (nccl.peer_pointer != nullptr) {
    found = asked_addresses(nccl, window, ranks);
  } else if (nccl.maps_windows() && nccl.team_in_reach(communicator).ranks == ranks) {
    found = computed_addresses(window, ranks);
  }
  const bool all = std::find(found.begin(), found.end(), nullptr) == found.end();
  return all ? found : std::vector<void*>();
}

/// Addresses from the window's fields in device memory, for releases that tell no address to the
/// host.
std::vector<void*> WindowMemory::computed_addresses(ncclWindow_t window, int ranks) const {
  WindowFields fields{};
  OVT_CHECK(cudaMemcpyAsync(&fields, window, sizeof fields, cudaMemcpyDeviceToHost, stream_));
  OVT_CHECK(cudaStreamSynchronize(stream_));
  std::vector<void*> found;
  found.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) found.push_back(address_in(fields, rank));
  return found;
}

void WindowMemory::detach() {
  for (const auto& [communicator, window] : windows_) {
    OVT_CHECK(ncclCommWindowDeregister(communicator, window));
  }
  windows_.clear();
}

}  // namespace overlaptune::run
