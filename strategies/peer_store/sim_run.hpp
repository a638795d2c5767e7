#pragma once
// Runs a GEMM that stores its tiles at the ranks that own them (`peer_store`), on all ranks. Times
// are microseconds from the start of the kernel.

#include <vector>

#include "core/timeline.hpp"
#include "machine/simulator/noise.hpp"
#include "machine/simulator/tile_physics.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune::sim {

/// The tiles, and what moves them.
struct StorePlan {
  StoreOrder order{};
  TileTimes times{};  ///< of a tile, with all that slows it
  int sms = 0;
  bool adds_up = false;  ///< a rank's own tile waits for the peers' tiles, and adds them to itself
  bool spreads = false;  ///< the sum goes to all ranks
  bool ping_pong = false;  ///< an SM multiplies the next tile while its own tile waits
  /// Share by which a tile takes longer where the tiles that run at once are all of peers, or all
  /// own ones: they share no columns of B with the others.
  double apart = 0;
  double held = 1;       ///< share of a tile that may leave after its consumer is free again
  double link_rate = 0;  ///< bytes that a rank sends per microsecond, and as many that it receives
  double signal = 0;     ///< time from the end of a store until its owner sees the signal
  double receive = 0;    ///< time from that signal until an own tile may be added up
  double sum_gap = 0;    ///< the links stand still for it behind the sums of a group
  double add_up = 0;     ///< time by which reading and adding the peers' tiles lengthens a tile
};

/// Factors and noise that differ from one repetition to the next.
struct StoreVariation {
  double clock = 1;
  double gemm = 1;    ///< factor on the time of tiles
  double link = 1;    ///< factor on the time of bytes
  double spread = 0;  ///< standard deviation of a tile's time, relative
  Noise noise;
};

struct StoreRun {
  std::vector<double> rank_ends{};
  Timeline timeline{};
};

/// Every rank is run, or, where there are many tiles, one that stands for all.
[[nodiscard]] StoreRun run_stores(const StorePlan& plan, const StoreVariation& variation);

}  // namespace overlaptune::sim
