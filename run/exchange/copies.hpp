#pragma once
// An all_to_all or all_gather by copy engines: every rank writes its parts into its peers' memory.

#include <cstdint>
#include <optional>

#include "core/problem.hpp"
#include "run/streams/fork.hpp"
#include "run/streams/stream_wait.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Enqueues a copy from the memory of a GPU to that of one.
void copy(cudaStream_t stream, void* to, const void* from, std::int64_t bytes);

/// An all_to_all or all_gather, or one piece of one. Strides and sizes are in bytes and multiples
/// of 16. `receive` is in `World::memory`, at the same offset on every rank.
struct CopyPiece {
  const std::byte* send = nullptr;  ///< the part for rank r is at r * `send_stride`
  std::int64_t send_stride = 0;     ///< all_gather: 0
  std::byte* receive = nullptr;     ///< the part from rank r is at r * `stride`
  std::int64_t stride = 0;
  std::int64_t part = 0;  ///< bytes of one part
};

/// One exchange of up to `kMostPieces` pieces, enqueued on the copy lanes of the world. Its waits
/// are kernels of one warp. It may be captured. All ranks enqueue the same pieces. Between two
/// exchanges all flags are zero.
class Copies {
 public:
  static constexpr int kMostPieces = 192;
  static constexpr int kMostRanks = 64;

  enum class Begin {
    gate,     ///< copies wait for all ranks, beside the work of the stream
    at_once,  ///< there was a gate on the stream
  };

  /// The exchange begins after the work that `stream` holds. `key.copies` is set, and `make_ready`
  /// was called for the key. Only one exchange runs at a time, because all use the world's lanes
  /// and flags.
  Copies(World& world, const CommKey& key, cudaStream_t stream, Begin begin);

  /// Enqueues a piece; call it at least once. The piece is sent once its signal has come, or at
  /// once where there is none.
  void enqueue(const CopyPiece& piece, const std::optional<Signal>& signal);

  /// Work that is enqueued on `stream` after this call finds all pieces received, and may overwrite
  /// the pieces that were sent.
  void finish(cudaStream_t stream);

 private:
  [[nodiscard]] std::uint32_t* flag(int at, int piece, int from) const;
  void tell_peers(int piece);
  void push_parts(const CopyPiece& piece) const;
  void move_own_part(const CopyPiece& piece) const;

  World& world_;
  CommKey key_;
  Fork fork_;  ///< of both lanes; joined by `finish`
  int pieces_ = 0;
  MemoryOperations on_copies_{};  ///< not enqueued yet
};

/// Enqueues a whole all_to_all or all_gather, in pieces as wave groups are. `bytes`: the size of
/// all parts together. `send` and `receive`: as for `run::enqueue`.
void enqueue_copies(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                    const void* send, void* receive, std::int64_t bytes);

}  // namespace overlaptune::run
