#pragma once
// The parts of a matrix that ranks exchange one after the other.

#include <cstdint>

namespace overlaptune::kernels {

/// Part of a row-major matrix of `PeerExchange::n` columns: some rows of every row block, and some
/// columns (`first_column` and `columns` are multiples of 8). all_reduce has one row block, the
/// matrix.
struct PeerPiece {
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::int32_t first_column = 0;
  std::int32_t columns = 0;
  /// The piece is exchanged once counter `counter` of every rank is at least `value`.
  std::int32_t counter = 0;
  std::uint32_t value = 0;
};

}  // namespace overlaptune::kernels
