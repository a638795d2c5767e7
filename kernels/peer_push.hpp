#pragma once
// An all_gather by stores of a few CTAs into the peers' memory.

#include <array>
#include <cstdint>
#include <cuda_runtime_api.h>

#include "kernels/rank_barrier.hpp"

namespace overlaptune::kernels {

/// The block of this rank becomes block `rank` of every rank's matrix.
struct PeerPush {
  /// A block has fewer bytes than this.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 35;

  RankBarrier barrier{};
  std::int64_t bytes = 0;        ///< of a block, a multiple of 16
  const void* source = nullptr;  ///< this rank's block, in any device memory
  /// Every rank's matrix, by its address on this GPU (a multiple of 16 bytes).
  std::array<void*, RankFlags::kMostRanks> matrices{};
};

/// Enqueues a push on `ctas` CTAs without shared memory, behind a gate (kernels/gate.hpp). It ends
/// on no rank before all have stored what that rank receives. One CTA that runs is enough. Returns
/// the status of the launch.
[[nodiscard]] cudaError_t push(cudaStream_t stream, const PeerPush& what, int ctas);

}  // namespace overlaptune::kernels
