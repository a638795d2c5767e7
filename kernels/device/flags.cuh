#pragma once
// The flags of a rank by which kernels that reach the peers' memory have barriers, count and
// signal, and how their waits end: all have the same time limit, and all end at once when one has.

#include "kernels/device/types.cuh"

namespace overlaptune::kernels::device {

/// All ranks reach them. All are zero at first.
struct RankFlags {
  static constexpr int kMostRanks = 64;
  static constexpr int kMostClusters = 256;  ///< of a launch with homes
  static constexpr int kCounters = 192;  ///< wave groups of a launch, times its chunks of columns
  static constexpr int kCounted = kCounters + 1;  ///< words from the first that a run resets
  static constexpr int kHereFlags = kMostClusters / 32;

  /// For each wave group: tiles that this rank's GEMM has stored, or that the peers have stored
  /// here, or shares of rows that they have sent, or 1 when copy engines have brought all its rows.
  /// Where rows come in chunks of columns, each chunk of a group has a counter. Zero when a run
  /// begins.
  u32 counters[kCounters];
  /// The peers' increments as they end: for tiles in this rank's C, or for CTAs that read nothing
  /// of this rank any more. Zero when a run begins.
  u32 done;
  /// 0; 1: a peer says that a wait took too long there; 2: this rank has told its host.
  u32 dead;
  u32 looked;  ///< when a wait last looked at `WaitControl` for all, as it counts time
  u32 limit;   ///< `WaitControl::limit` then; 0: nobody has looked
  u32 unused[28];
  /// The items of the queue that are taken; with homes, those behind them. On a line that waits do
  /// not look at: the CTAs take one after another.
  u32 claims;
  /// Clusters of a launch with homes (homes.cuh) that have arrived, those that have taken their
  /// last item, and a bit for each that arrived while the homes were open.
  u32 arrived;
  u32 left;
  u32 here[kHereFlags];
  u32 ticket;  ///< storing warps that know the run, where the kernel itself has the barrier
  u32 unused_too[18];
  u64 epoch;               ///< the run that `counters` and `done` are for, likewise
  u64 epochs[kMostRanks];  ///< sum of `Run::step` of the runs with each rank, before this one
  /// Up to the run that each rank has reached, this sum as that rank has it: gates add to it,
  /// kernels with a barrier of their own write it. Both fit as long as the world lives: each run of
  /// two ranks is counted once by both.
  u64 ready[kMostRanks];
  /// In the lower half the place (`placed_in`) that each peer has for its part of the exchange; in
  /// the upper one the lower half of `ready` for the run that it is for. A peer writes the next one
  /// only when this rank's stores to it have ended.
  u64 places[kMostRanks];
  /// Permits to send tiles (strategies/peer_store/permits.cuh), each count on a line of its own.
  /// They are never reset: each permit that is taken is returned.
  u32 permits_taken;
  u32 unused_between[31];
  u32 permits_returned;
};

/// The word that a wait was for.
enum class Awaited : u32 {
  ready,    ///< a rank, that it has reached the plan; `index`: the rank
  counter,  ///< a wave group; `index`: its number
  done,     ///< the end of what the peers do here
  flag,     ///< a flag of a copy engine; `index`: the rank that raises it
  permit,   ///< a permit to send, of this rank itself
  told,     ///< none: a peer says that one of its waits took too long
  aborted,  ///< none: the host ended all waits
  differs,  ///< none: a rank has come, but to another plan, or with other rows; `index`: the rank
};

/// In host memory that the GPU reads and writes, so that neither side needs a stream. The host
/// writes `limit` and may write `ended`; the first kernel whose wait takes too long writes the
/// other fields, then `ended`.
struct WaitControl {
  u32 ended;  ///< not 0: no wait waits any more
  u32 limit;  ///< of each wait, in units of 2^20 ns
  u32 plan;   ///< number of the plan whose wait ended first ...
  u32 what;   ///< `Awaited`
  u32 index;
  u32 waited;  ///< in units of 2^20 ns
  u32 unused[2];
};

/// The means of a launch to take items, to have a barrier with its peers, and to end its waits.
struct Run {
  int rank;
  int ranks;
  int plan;         ///< a number for the host
  int has_barrier;  ///< 1: this launch has the barrier of the ranks itself; 0: a gate before it
  int items;        ///< in the queue
  int clusters;     ///< of the launch; each takes items until there is none
  int homes;        ///< the first items, which wait for nothing (homes.cuh)
  int deals;        ///< 1: where all clusters are there, each goes on by equal steps
  u64 step;         ///< a run, in the lower half; in the upper one `RankBarrier::work`
  u32 place;        ///< of this rank (`placed_in`), for the peers; `kNoPlace`: none is asked for
  WaitControl* control;
  RankFlags* flags[RankFlags::kMostRanks];
};

/// A place in the memory of a rank: in one of its parts, so many units from the begin.
constexpr int kPlaceBytes = 256;  ///< a unit
constexpr int kParts = 2;         ///< the world's own memory, and that for results
constexpr u32 placed_in(u32 part, u32 units) {
  return part << 31 | units;
}
constexpr u32 kNoPlace = ~u32{0};

/// In the place of `Run`, for a launch that neither waits for ranks nor takes items from a queue.
struct NoRun {};

}  // namespace overlaptune::kernels::device
