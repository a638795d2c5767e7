#pragma once
// How the kernels of peer access meet. CTA i of each rank meets CTA i of the other ranks, and no
// other CTA.

#include "kernels/peers.hpp"
#include "kernels/wait.cuh"

namespace overlaptune::kernels {

enum class Event { begun, done };

/// Tells the same CTA of the peers of the event and waits until they have told of it, with one
/// thread for each peer. `words`: those of each rank (kernels/peers.hpp). The CTA that waits for a
/// word resets it to zero. The word is written again only in the next exchange, which its writer
/// cannot reach before the reader has told it "done".
__device__ inline void meet(std::uint32_t* const* words, int rank, int ranks, Event event) {
  const int peer = static_cast<int>(threadIdx.x);
  if (peer >= ranks || peer == rank) return;
  const std::size_t row =
      PeerWords::kCounters +
      (static_cast<std::size_t>(event) * PeerWords::kMostCtas + blockIdx.x) * PeerWords::kMostRanks;
  store_release(words[peer] + row + rank, 1);
  std::uint32_t* const theirs = words[rank] + row + peer;
  wait_for(theirs, 1);
  *theirs = 0;
}

}  // namespace overlaptune::kernels
