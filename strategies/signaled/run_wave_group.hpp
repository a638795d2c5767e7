#pragma once
// A wave group of `signaled` that a collective or copy engines exchange: the memory into which its
// tiles store, and the way from there into the result. Tiles that cannot be stored in place are
// staged.

#include <vector>

#include "run/exchange/copies.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

class WaveGroup {
 public:
  /// The group of the tiles between two cuts. Between two contiguous cuts the rows are whole, and
  /// are received in place, without copies.
  WaveGroup(const Problem& problem, const CommKey& route, const TileOrder& order, const Cut& begin,
            const Cut& end);

  /// Appends one segment for each region, in the order of their tiles.
  void add_segments(int counter, const Operands& operands, std::vector<GeneratedSegment>& to) const;

  /// Enqueues the collective and, for a group that is not contiguous, the copies into place. Only
  /// ranks that take part call this.
  void enqueue_exchange(cudaStream_t stream, World& world, const Operands& operands) const;

  /// The group as a piece of an exchange by copy engines. Only for contiguous groups.
  [[nodiscard]] CopyPiece copy_piece(const Operands& operands) const;

 private:
  [[nodiscard]] std::byte* staged(const Operands& operands) const;
  [[nodiscard]] std::byte* in_c(const Operands& operands) const;
  void enqueue_reorder(cudaStream_t stream, const std::byte* from, const Operands& operands) const;

  Problem problem_;
  CommKey route_;
  std::vector<Region> regions_;
  bool contiguous_;
  int blocks_;             ///< row blocks
  std::int64_t elements_;  ///< elements of the group in one row block
  std::int64_t before_;    ///< elements of the earlier groups, in all row blocks
  std::int64_t block_rows_;
};

}  // namespace overlaptune::run
