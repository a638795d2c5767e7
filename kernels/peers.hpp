#pragma once
// The words of a rank by which kernels of peer access meet and signal.

#include <cstddef>
#include <cstdint>

#include "core/tiling.hpp"

namespace overlaptune::kernels {

/// The counters come first: the plan of the rank resets them before an exchange, and its GEMM, or
/// its peers, increment them. Behind them are the words by which the ranks meet, zero between two
/// exchanges.
struct PeerWords {
  static constexpr int kMostRanks = 64;
  static constexpr int kMostCtas = 64;
  static constexpr std::size_t kCounters = kMostRegions;
  static constexpr std::size_t kCount = kCounters + 2 * kMostCtas * kMostRanks;
};

}  // namespace overlaptune::kernels
