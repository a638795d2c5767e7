#pragma once
// The shape of a GEMM's output blocks.

#include <compare>
#include <string>

#include "core/config/fields.hpp"

namespace overlaptune {

/// One output block of a GEMM and how it is computed. All fields are zero where the GEMM library
/// (cuBLASLt) chooses.
///
/// A generated GEMM multiplies blocks of `down` by `across` (on Hopper: wgmmas of 64 rows and up to
/// 256 columns). These are the rows and columns of the tile. With *swap-AB* they are its
/// columns and rows: the GEMM computes B * A^T and stores the transpose. So block_m need not be a
/// multiple of 64.
struct Tile {
  int block_m = 0;
  int block_n = 0;
  int block_k = 0;
  int stages = 0;   ///< depth of the load pipeline, in k blocks
  int cluster = 0;  ///< CTAs that share operand loads: 1 or 2
  friend auto operator<=>(const Tile&, const Tile&) = default;
  [[nodiscard]] bool is_library() const { return block_m == 0; }
  /// Whether block_m is a height that no stack of instructions has. For tiles of generated GEMMs.
  [[nodiscard]] bool swaps_ab() const { return block_m % kInstructionRows != 0; }
  [[nodiscard]] int down() const { return swaps_ab() ? block_n : block_m; }
  [[nodiscard]] int across() const { return swaps_ab() ? block_m : block_n; }

  /// Rows of one wgmma, or of the warps of `mma` that lie one below the other.
  static constexpr int kInstructionRows = 64;
};

inline constexpr std::tuple kTileFields{
    Field{"block_m", &Tile::block_m}, Field{"block_n", &Tile::block_n},
    Field{"block_k", &Tile::block_k}, Field{"stages", &Tile::stages},
    Field{"cluster", &Tile::cluster}};

/// `128x256x64`, or `library`.
[[nodiscard]] std::string to_string(const Tile& tile);

}  // namespace overlaptune
