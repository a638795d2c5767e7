#pragma once
// The words of a rank by which kernels that reach the peers' memory meet, count and signal.

#include <cstdint>

#include "core/tiling.hpp"

namespace overlaptune::kernels {

/// All ranks reach them. All are zero at first. kernels/device/waits.cu has the same struct.
struct RankWords {
  static constexpr int kMostRanks = 64;
  static constexpr int kMostClusters = 256;          ///< of a launch with homes
  static constexpr int kCounted = kMostRegions + 1;  ///< words from the first that a run resets

  /// For each wave group: tiles that this rank's GEMM has stored, or that the peers have stored
  /// here, or shares of rows that they have sent. Zero when a run begins.
  std::uint32_t counters[kMostRegions];
  /// The peers' increments as they end: for tiles in this rank's C, or for CTAs that read nothing
  /// of this rank any more. Zero when a run begins.
  std::uint32_t done;
  /// 0; 1: a peer says that a wait took too long there; 2: this rank has told its host.
  std::uint32_t dead;
  std::uint32_t looked;  ///< when a wait last looked at `WaitControl` for all, as it counts time
  std::uint32_t limit;   ///< `WaitControl::limit` then; 0: nobody has looked
  std::uint32_t unused[28];
  /// The items of the queue that are taken; with homes, those behind them. On a line that waits do
  /// not look at: the CTAs take one after another.
  std::uint32_t claims;
  /// Clusters of a launch with homes (kernels/device/homes.cu) that have arrived, those that have
  /// taken their last item, and a bit for each that arrived while the homes were open.
  std::uint32_t arrived;
  std::uint32_t left;
  std::uint32_t here[kMostClusters / 32];
  std::uint32_t
      ticket;          ///< storing warps that know the run, where the kernel itself meets the ranks
  std::uint32_t open;  ///< the run that `counters` and `done` are for, likewise
  std::uint32_t unused_too[19];
  std::uint32_t runs[kMostRanks];  ///< runs with each rank, before this one
  /// The run that each rank has reached, by that rank: gates count it up, kernels that meet the
  /// ranks themselves write its number. Both fit as long as the world lives: each run of two ranks
  /// is counted once by both.
  std::uint32_t ready[kMostRanks];
};
static_assert(kMostRegions == 192, "RankWords::counters in kernels/device/waits.cu");

}  // namespace overlaptune::kernels
