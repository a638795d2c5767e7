#pragma once
// Effects that the simulation can leave out, to show the weight of each.

namespace overlaptune::sim {

struct Effects {
  bool tile_spread = true;            ///< tiles of one GEMM differ in time
  bool launch = true;                 ///< replays, submissions, gaps between kernels
  bool signal = true;                 ///< time until a finished group is visible
  bool trigger = true;                ///< time from there to the start of its collective
  bool gemm_contention = true;        ///< a collective slows the GEMM
  bool collective_contention = true;  ///< a GEMM slows the collective
  bool clock_loss = true;             ///< the power limit lowers the clock
};

}  // namespace overlaptune::sim
