#pragma once
// Ranks that share one GPU and one process: the flags of their barriers.

#include <chrono>
#include <vector>

#include "kernels/gate.hpp"
#include "run/handles.hpp"
#include "run/waits/waits.hpp"

namespace overlaptune::run {

class RanksOnOneGpu {
 public:
  explicit RanksOnOneGpu(int ranks, std::chrono::milliseconds limit = std::chrono::seconds(20))
      : waits_(limit), flags_(device_memory(bytes(ranks))), ranks_(ranks) {
    OVT_CHECK(cudaMemset(flags_.get(), 0, bytes(ranks)));
    OVT_CHECK(cudaDeviceSynchronize());
  }

  /// `place`: the rank's, for exchanges in which each has its own.
  [[nodiscard]] kernels::RankBarrier barrier(
      int rank, std::uint32_t place = kernels::device::kNoPlace) const {
    kernels::RankBarrier barrier{
        .rank = rank, .ranks = ranks_, .place = place, .control = waits_.control()};
    for (int peer = 0; peer < ranks_; ++peer) {
      barrier.flags[static_cast<std::size_t>(peer)] = flags_of_rank(peer);
    }
    return barrier;
  }
  [[nodiscard]] kernels::RankFlags* flags_of_rank(int rank) const {
    return static_cast<kernels::RankFlags*>(flags_.get()) + rank;
  }
  void enqueue_gate(cudaStream_t stream, int rank,
                    std::uint32_t place = kernels::device::kNoPlace) const {
    OVT_CHECK(kernels::gate(stream, barrier(rank, place), kernels::Counters::reset));
  }
  [[nodiscard]] const Waits& waits() const { return waits_; }

 private:
  static std::size_t bytes(int ranks) {
    return sizeof(kernels::RankFlags) * static_cast<std::size_t>(ranks);
  }

  Waits waits_;
  DeviceMemory flags_;
  int ranks_;
};

}  // namespace overlaptune::run
