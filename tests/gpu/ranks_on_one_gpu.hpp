#pragma once
// Ranks that share one GPU and one process: the words by which their kernels meet.

#include <chrono>
#include <vector>

#include "kernels/gate.hpp"
#include "run/handles.hpp"
#include "run/waits.hpp"

namespace overlaptune::run {

class RanksOnOneGpu {
 public:
  explicit RanksOnOneGpu(int ranks, std::chrono::milliseconds limit = std::chrono::seconds(20))
      : waits_(limit), words_(device_memory(bytes(ranks))), ranks_(ranks) {
    OVT_CHECK(cudaMemset(words_.get(), 0, bytes(ranks)));
    OVT_CHECK(cudaDeviceSynchronize());
  }

  [[nodiscard]] kernels::Meeting meeting(int rank) const {
    kernels::Meeting meeting{.rank = rank, .ranks = ranks_, .control = waits_.control()};
    for (int peer = 0; peer < ranks_; ++peer) {
      meeting.words[static_cast<std::size_t>(peer)] = words_of(peer);
    }
    return meeting;
  }
  [[nodiscard]] kernels::RankWords* words_of(int rank) const {
    return static_cast<kernels::RankWords*>(words_.get()) + rank;
  }
  void enqueue_gate(cudaStream_t stream, int rank) const {
    OVT_CHECK(kernels::gate(stream, meeting(rank), kernels::Counters::reset));
  }
  [[nodiscard]] const Waits& waits() const { return waits_; }

 private:
  static std::size_t bytes(int ranks) {
    return sizeof(kernels::RankWords) * static_cast<std::size_t>(ranks);
  }

  Waits waits_;
  DeviceMemory words_;
  int ranks_;
};

}  // namespace overlaptune::run
