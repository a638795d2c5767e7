#pragma once
// The words of a rank by which kernels that reach the peers' memory meet and signal.

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

/// The words by which GEMMs that store at the owners of tiles meet and signal. All are zero at
/// first. kernels/device/peer_store.cu has the same struct, and says what each word is for.
struct StoreWords {
  static constexpr int kMostRanks = 64;

  std::uint32_t counters[kMostRegions];
  std::uint32_t done;
  std::uint32_t ticket;
  std::uint32_t open;
  std::uint32_t unused;
  std::uint32_t runs[kMostRanks];
  std::uint32_t ready[kMostRanks];
};
static_assert(kMostRegions == 192, "StoreWords::counters in kernels/device/peer_store.cu");

}  // namespace overlaptune::kernels
