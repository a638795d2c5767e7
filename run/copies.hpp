#pragma once
// Collectives by copy engines: every rank writes its parts into its peers' memory, and CTAs are
// needed only to add up what has arrived.

#include <cstdint>
#include <optional>

#include "core/problem.hpp"
#include "run/stream_wait.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// An all_to_all or a reduce_scatter, or one piece of it, on `World::memory` of every rank, at the
/// same offsets. `send` has one part a rank, of `part` elements (a multiple of 8), `send_stride`
/// apart. Part r is what rank r gets (all_to_all), or adds up (reduce_scatter).
struct CopyPiece {
  Collective collective = Collective::all_to_all;
  Dtype dtype = Dtype::bf16;
  void* send = nullptr;
  std::int64_t part = 0;
  std::int64_t send_stride = 0;
  /// all_to_all: what rank r sent, at r * `stride` elements. reduce_scatter: this rank's sum.
  void* receive = nullptr;
  std::int64_t stride = 0;
  /// reduce_scatter: where the others' parts arrive, (ranks - 1) * `part` elements.
  void* arrivals = nullptr;
};

/// What must be there before a piece is sent: `*counter` (device memory) at least `value`.
struct Signal {
  const std::uint32_t* counter = nullptr;
  std::uint32_t value = 0;
};

/// One exchange of up to `kMostPieces` pieces, enqueued on the lanes of the world: copies of one
/// piece go on while another is added up. No CTA is held while something is waited for. It may be
/// captured. All ranks enqueue the same pieces; between two exchanges all flags are zero.
class Copies {
 public:
  static constexpr int kMostPieces = 192;
  static constexpr int kMostRanks = 64;

  /// Begins after what `stream` holds. `key.copies`, made ready. One exchange at a time: all share
  /// the world's lanes and flags.
  Copies(World& world, const CommKey& key, cudaStream_t stream);

  /// At least one.
  void enqueue(const CopyPiece& piece, const std::optional<Signal>& signal);

  /// What comes on `stream` later finds all pieces received, and may overwrite what was sent.
  void finish(cudaStream_t stream);

 private:
  enum class Event { ready, arrived };
  [[nodiscard]] std::uint32_t* flag(int at, Event event, int piece, int from) const;
  [[nodiscard]] std::byte* there(int rank, void* here) const;
  void tell_peers(MemoryOperations& operations, Event event, int piece) const;
  void wait_for_peers(MemoryOperations& operations, Event event, int piece) const;
  void push_parts(const CopyPiece& piece) const;
  void add(const CopyPiece& piece) const;

  World& world_;
  CommKey key_;
  int pieces_ = 0;
  // Not enqueued yet: the waits for the peers' "ready", as one piece of work with the first
  // signal's, and those for what no sum needs.
  MemoryOperations on_copies_{};
  MemoryOperations at_the_end_{};
};

/// A whole collective, in pieces as groups are: sums are made while copies go on. `count`, `send`
/// and `receive` as for `run::enqueue`; `arrivals`: room for `count` elements.
void enqueue_copies(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                    Dtype dtype, void* send, void* receive, void* arrivals, std::int64_t count);

}  // namespace overlaptune::run
