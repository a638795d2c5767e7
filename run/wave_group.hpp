#pragma once
// A wave group of `signaled` whose tiles are staged where they are not in place: where they store,
// and how that becomes part of the result.

#include <vector>

#include "run/copies.hpp"
#include "run/generated_gemm.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

class WaveGroup {
 public:
  /// The tiles between two cuts. Cuts that are contiguous need no copies: the rows of the group are
  /// whole, and received where they belong.
  WaveGroup(const Problem& problem, const CommKey& route, const TileOrder& order, const Cut& begin,
            const Cut& end);

  /// One a region, in the order of their tiles.
  void add_segments(int counter, const Operands& operands, std::vector<GeneratedSegment>& to) const;

  /// The collective, and the copies that a group which is not contiguous takes. On ranks that take
  /// part.
  void enqueue_exchange(cudaStream_t stream, World& world, const Operands& operands) const;

  /// The same by copy engines. Contiguous groups only.
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
  std::int64_t elements_;  ///< of one row block
  std::int64_t before_;    ///< elements of the groups before, all row blocks
  std::int64_t block_rows_;
};

}  // namespace overlaptune::run
