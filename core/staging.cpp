#include "core/staging.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

constexpr int kRows = Tile::kInstructionRows;  // of a slab
constexpr int kElementBytes = 2;
/// Bytes of a row of A or B in one step of k: 64 elements.
constexpr int kRowBytes = 128;
/// Alignment of the ring: the bytes of one pattern of the swizzle.
constexpr int kAlignment = 1024;

int ring_bytes(const Tile& tile) {
  return tile.stages * (tile.block_m + tile.block_n) * kRowBytes + kAlignment;
}

/// Whether one consumer can hold the sums of a tile, and shared memory a buffer for each of two.
bool takes_turns(const Tile& tile, const GpuLimits& limits) {
  constexpr int kMostSums = 192;  // of a thread, which leave it registers for the rest
  constexpr int kOtherBytes = 512;
  const int buffers = 2 * kRows * std::min(tile.across(), 64) * kElementBytes;
  return tile.down() / kRows * tile.across() / 2 <= kMostSums &&
         ring_bytes(tile) + buffers + kOtherBytes <= limits.shared_memory_bytes;
}

/// Bytes of the kernel's static variables: barriers of the stages and of the buffers, those of the
/// turns, and a task for each consumer; aligned.
int static_bytes(int stages, int buffers, int consumers) {
  return (8 * (2 * stages + 2 * buffers * consumers + 2) + 4 * consumers + 15) / 16 * 16;
}

/// As many buffers as fit, so that a consumer is soon free for the next tile. If their number
/// divides that of the slabs, the kernel's compiler knows the buffer of each slab.
template <class Fits>
int most_buffers(int slabs, const Fits& fits) {
  for (int buffers = slabs; buffers > 1; --buffers) {
    if (slabs % buffers == 0 && fits(buffers)) return buffers;
  }
  for (const int buffers : {4, 2}) {
    if (buffers < slabs && fits(buffers)) return buffers;
  }
  return 1;
}

}  // namespace

Staging staging_of(const Tile& tile, const GpuLimits& limits) {
  Staging staging{.in_turn = takes_turns(tile, limits)};
  const int down = tile.down();
  const int across = tile.across();
  staging.consumers = staging.in_turn || down == 256 ? 2 : down / kRows;
  staging.slab = across % 64 == 0 ? 64 : across % 32 == 0 ? 32 : 16;
  staging.slabs = down / kRows / staging.of_one_tile() * (across / staging.slab);
  const auto bytes = [&](int buffers) {
    return ring_bytes(tile) + staging.consumers * buffers * kRows * staging.slab * kElementBytes;
  };
  const auto fits = [&](int buffers) {
    return bytes(buffers) + static_bytes(tile.stages, buffers, staging.consumers) <=
           limits.shared_memory_bytes;
  };
  staging.buffers = most_buffers(staging.slabs, fits);
  staging.shared_bytes = bytes(staging.buffers);
  staging.fits = fits(staging.buffers);
  return staging;
}

}  // namespace overlaptune
