#pragma once
// The state of the run that is under way, for the instructions of a kernel.

#include <functional>

#include "tests/kernels/emulator/machine.hpp"

namespace emulator {

struct Tile {
  int rows = 0;
  int columns = 0;
  int cluster = 1;
};
inline Tile tile;

inline int k_steps = 0;
inline bool tiles_are_shared = false;
/// The last step that the running CTA multiplies.
inline int last_step_of_cta() {
  const bool first_half = tiles_are_shared && own.block_idx.x % 2 == 0;
  return (first_half ? (k_steps + 1) / 2 : k_steps) - 1;
}

/// Called for each subtile that is stored, and for each load of rows of A: the matrix, the first
/// column, the row and the block.
inline std::function<void(int, int, int, int)> on_store;
inline std::function<void(int, int, int, int)> on_load;
/// Called when a step of rows arrives at a peer: the map's number, the first column and the row.
inline std::function<void(int, int, int)> on_push;
/// Called for each bulk store of bytes.
inline std::function<void()> on_store_bytes = [] {};

}  // namespace emulator
