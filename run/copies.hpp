#pragma once
// An all_to_all by copy engines: every rank writes its parts into its peers' memory.

#include <cstdint>
#include <optional>

#include "core/problem.hpp"
#include "run/stream_wait.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// An all_to_all, or one piece of it, on `World::memory` of every rank, at the same offsets.
/// Strides and sizes are in bytes, multiples of 16.
struct CopyPiece {
  void* send = nullptr;  ///< part r, for rank r, at r * `send_stride`
  std::int64_t send_stride = 0;
  void* receive = nullptr;  ///< what rank r sent, at r * `stride`
  std::int64_t stride = 0;
  std::int64_t part = 0;
};

/// One exchange of up to `kMostPieces` pieces, enqueued on the lanes of the world. No CTA is held
/// while something is waited for. It may be captured. All ranks enqueue the same pieces; between
/// two exchanges all flags are zero.
class Copies {
 public:
  static constexpr int kMostPieces = 192;
  static constexpr int kMostRanks = 64;

  /// Begins after what `stream` holds. `key.copies`, made ready. One exchange at a time: all share
  /// the world's lanes and flags.
  Copies(World& world, const CommKey& key, cudaStream_t stream);

  /// At least one. It is sent once its signal is there.
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
  void move_own_part(const CopyPiece& piece) const;

  World& world_;
  CommKey key_;
  int pieces_ = 0;
  // Not enqueued yet: the waits for the peers' "ready", as one piece of work with the first
  // signal's, and those for what arrives.
  MemoryOperations on_copies_{};
  MemoryOperations at_the_end_{};
};

/// A whole all_to_all of `bytes` (of all parts together), in pieces as groups are. `send` and
/// `receive` as for `run::enqueue`.
void enqueue_copies(cudaStream_t stream, World& world, const CommKey& key, void* send,
                    void* receive, std::int64_t bytes);

}  // namespace overlaptune::run
