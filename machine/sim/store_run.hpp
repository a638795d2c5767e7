#pragma once
// Runs the tiles of a GEMM that stores each of them at the rank that owns it (`peer_store`), on all
// ranks. Times are microseconds from the start of the kernel.

#include <vector>

#include "core/store_order.hpp"
#include "core/timeline.hpp"
#include "machine/sim/noise.hpp"
#include "machine/sim/tile_physics.hpp"

namespace overlaptune::sim {

/// The tiles, and what moves them.
struct StorePlan {
  StoreOrder order{};
  TileTimes times{};  ///< of a tile, with all that slows it
  int sms = 0;
  bool adds_up = false;  ///< a rank's own tile waits for the peers' tiles, and adds them to itself
  bool spreads = false;  ///< the sum goes to all ranks
  bool in_turn = false;  ///< an SM multiplies the next tile while its own tile waits
  double link_rate = 0;  ///< bytes that a rank sends per microsecond, and as many that it receives
  double signal = 0;     ///< time from the end of a store until its owner sees the signal
  double add_up = 0;     ///< time by which reading and adding the peers' tiles lengthens a tile
};

/// What differs from one repetition to the next.
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

/// An SM has at most two tiles that have not left it: one that it multiplies, and the one before.
/// With many tiles one rank stands for all.
[[nodiscard]] StoreRun run_stores(const StorePlan& plan, const StoreVariation& variation);

}  // namespace overlaptune::sim
