#pragma once
// The shape of a GEMM's output blocks.

#include <compare>
#include <string>

#include "core/fields.hpp"

namespace overlaptune {

/// One output block of a GEMM and how it is computed. All fields are zero where the GEMM library
/// (cuBLASLt) chooses.
struct Tile {
  int block_m = 0;
  int block_n = 0;
  int block_k = 0;
  int stages = 0;   ///< depth of the load pipeline, in k blocks
  int cluster = 0;  ///< CTAs that share operand loads: 1 or 2
  friend auto operator<=>(const Tile&, const Tile&) = default;
  [[nodiscard]] bool is_library() const { return block_m == 0; }
};

inline constexpr std::tuple kTileFields{
    Field{"block_m", &Tile::block_m}, Field{"block_n", &Tile::block_n},
    Field{"block_k", &Tile::block_k}, Field{"stages", &Tile::stages},
    Field{"cluster", &Tile::cluster}};

/// `128x256x64`, or `library`.
[[nodiscard]] std::string to_string(const Tile& tile);

}  // namespace overlaptune
