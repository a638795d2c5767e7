#pragma once
// Costs of exchanges beside a GEMM that no probe measures, as the model takes them. The simulator
// has its own, but for pushes from other measurements (docs/profiles.md), so that it can show where
// these are wrong.

#include "core/base/units.hpp"

namespace overlaptune {

/// Measured on the GPUs that are named, and assumed for all others.
struct UnprobedCosts {
  /// One more wave group by `peer_access`. 4 H200: eight groups of 8 KiB against one of 64 KiB.
  Microseconds peer_gap = us(1.5);
  /// Flags and start of a copy by `copy_engine`, a peer. 4 H200: configs with many small groups.
  Microseconds copy_gap = us(8);
  /// `waiting` by `copy_engine`: the meeting before the first piece, and each piece with its flag.
  /// The smallest exchanges by copy engines on 2 and 4 H200
  /// (machine/simulator/profiles/exchange_costs.py).
  Microseconds push_meet = us(14.7);
  Microseconds push_gap = us(6.6);
  /// `peer_store`: from a store at a peer until its signal is seen there. Fitted on 2 H100
  /// and 2 and 4 H200 (docs/results/model-notes.md).
  Microseconds store_signal = us(2);
  /// From there until the sum is stored, but for `store_add`. 2 H100 (docs/kernel-notes.md, "Groups
  /// of one wave"): reduce-scatter of two tiles against all-to-all.
  Microseconds store_receive = us(3);
  /// The last own tiles are longer by it for each peer: all SMs read what the peers have stored,
  /// and none has a tile left to multiply meanwhile. Fitted to `peer_store` with permits on 2 H200
  /// (docs/results/model-notes.md).
  Microseconds store_last = us(2);
  /// All-reduce: the links stand still behind the sums of each group, for each peer. 4 H200: the
  /// same tiles in more and in fewer groups (docs/model.md).
  Microseconds store_gap = us(0.7);
  /// Begin and end of a run, without `store_last`. 2 H100: M = 1024, stores to the rank's own
  /// memory, took 5.5 longer than the plain GEMM.
  Microseconds store_run = us(5);
  // One H200 (tests/bench/peer_store_bench): M = 1024 against 16384, all-to-all, and reduce-scatter
  // against all-to-all, with tiles of which two or three consumers have rows.
  Microseconds store_subtile = us(0.12);  ///< each subtile of a consumer (core/config/staging.hpp)
  Microseconds store_add = us(0.27);      ///< reading and adding a subtile that a peer has stored
};

}  // namespace overlaptune
