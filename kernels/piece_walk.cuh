#pragma once
// Pieces of a matrix, as kernels that load and store 16 bytes at a time go through them.

#include <utility>

#include "kernels/peer_exchange.hpp"
#include "kernels/sum.cuh"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {

/// The piece with columns counted in vectors of 16 bytes; `pitch`: the vectors of a row.
inline PeerPiece in_vectors(PeerPiece piece, std::int64_t pitch) {
  piece.first_column /= kInVector;
  piece.columns /= kInVector;
  if (piece.columns == pitch)
    piece.columns *= std::exchange(piece.rows, 1);  // rows follow one another
  return piece;
}

/// The offsets, in the matrix, of vectors of a piece that are `step` apart.
class Walk {
 public:
  __device__ Walk(std::int64_t pitch, const PeerPiece& piece, std::uint32_t first,
                  std::uint32_t step)
      : pitch_(pitch),
        begin_(piece.first_row * pitch + piece.first_column),
        columns_(static_cast<std::uint32_t>(piece.columns)),
        rows_(static_cast<int>(step / columns_)),
        rest_(step % columns_),
        row_(static_cast<int>(first / columns_)),
        column_(first % columns_) {}

  /// Another walk over these offsets, which the compiler does not keep from one walk to the other.
  __device__ Walk once_more() const {
    Walk again = *this;
    device::hide(again.row_);
    return again;
  }

  __device__ std::int64_t next() {
    const std::int64_t offset = begin_ + row_ * pitch_ + column_;
    row_ += rows_;
    column_ += rest_;
    if (column_ >= columns_) {
      column_ -= columns_;
      ++row_;
    }
    return offset;
  }

 private:
  std::int64_t pitch_;
  std::int64_t begin_;
  std::uint32_t columns_;
  int rows_;  // of a step
  std::uint32_t rest_;
  int row_;
  std::uint32_t column_;
};

}  // namespace overlaptune::kernels
