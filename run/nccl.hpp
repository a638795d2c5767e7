#pragma once
// The NCCL of the process. Its functions that are newer than NCCL 2.27 are looked up at run time,
// so that the library loads with every release from 2.27 on. A caller that finds one missing takes
// another way, or refuses in a sentence that names the function.

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <string>

namespace overlaptune::run {

/// The release that brought the layout of windows (run/memory/window_memory.cpp), as
/// `ncclGetVersion` counts.
inline constexpr int kFirstMappedWindows = 22803;

/// The first release whose symmetric kernels end when their communicator is aborted (its sources:
/// `testAbort` in nccl_device/impl/lsa_barrier__funcs.h).
inline constexpr int kFirstEndingSymmetric = 22907;

/// Functions that not every such release has; null where this one lacks them. Their types are those
/// of nccl.h and nccl_device.h.
struct NewerNccl {
  struct Team {
    int ranks, rank, stride;
  };
  int version = 0;  ///< 22809 for 2.28.9
  ncclResult_t (*all_to_all)(const void* send, void* receive, std::size_t count,
                             ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) = nullptr;
  Team (*team_in_reach)(ncclComm_t comm) = nullptr;
  ncclResult_t (*peer_pointer)(ncclWindow_t window, std::size_t offset, int peer,
                               void** address) = nullptr;

  /// Whether a rank can find the addresses of its peers' windows.
  [[nodiscard]] bool maps_windows() const {
    return peer_pointer != nullptr || (team_in_reach != nullptr && version >= kFirstMappedWindows);
  }
};

[[nodiscard]] const NewerNccl& newer_nccl();

[[nodiscard]] int device_of(ncclComm_t comm);
[[nodiscard]] int rank_of(ncclComm_t comm);
[[nodiscard]] int ranks_of(ncclComm_t comm);

/// "2.28.9" for 22809.
[[nodiscard]] std::string nccl_version_in_words(int version);

/// The release, the file that it was loaded from, and each function that it lacks, with the first
/// release that has it and the way that is taken instead. One line.
[[nodiscard]] std::string nccl_in_words();

}  // namespace overlaptune::run
