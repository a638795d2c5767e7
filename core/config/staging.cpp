#include "core/config/staging.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

constexpr int kRows = Tile::kInstructionRows;  // of a subtile
/// Bytes of a row of A or B in one step of k (`block_k_of`).
constexpr int kRowBytes = 128;
/// Alignment of the ring: the bytes of one pattern of the swizzle.
constexpr int kAlignment = 1024;

int ring_bytes(const Tile& tile) {
  return tile.stages * (tile.block_m + tile.block_n) * kRowBytes + kAlignment;
}

int subtile_of(const Tile& tile) {
  return tile.across() % 64 == 0 ? 64 : tile.across() % 32 == 0 ? 32 : 16;
}

/// Fewest buffers of a consumer. With one of less than 64 columns it would wait for each store.
int fewest_buffers(const Tile& tile) {
  return subtile_of(tile) == 64 ? 1 : 2;
}

int subtile_bytes(const Tile& tile, Elements elements) {
  return kRows * subtile_of(tile) * static_cast<int>(result_bytes(elements));
}

/// Whether one consumer can hold the sums of a tile, and shared memory the buffers of two.
bool uses_ping_pong(const Tile& tile, const GpuLimits& limits, Elements elements) {
  constexpr int kMostSums = 192;  // of a thread, which leave it registers for the rest
  constexpr int kOtherBytes = 1024;
  // One multiplies while the other one adds up what it has multiplied: not in turn. (64 rows are
  // too few for two.)
  if (is_exact(elements) && tile.down() > kRows) return false;
  const int buffers = 2 * fewest_buffers(tile) * subtile_bytes(tile, elements);
  return tile.down() / kRows * tile.across() / 2 <= kMostSums &&
         ring_bytes(tile) + buffers + kOtherBytes <= limits.shared_memory_bytes;
}

/// Bytes of the scales that the consumers keep (kernels/device/hopper_scales.cuh). `sums`: of a
/// thread.
int scale_bytes(const Tile& tile, const Staging& staging, int sums, Elements elements) {
  if (!is_scaled(elements) || !staging.ping_pong || sums < 176) return 0;
  return staging.consumers * (tile.down() + tile.across()) * static_cast<int>(sizeof(float));
}

/// Most bytes of the kernel's static variables: barriers of the stages, of the buffers and of the
/// turns; the items that its warps hand each other (`Items` in kernels/device/hopper_items.cuh);
/// scales.
int static_bytes(int stages, int buffers, int consumers, int scales) {
  const int barriers = 8 * (2 * stages + 2 * buffers * consumers + 2);
  const int items = 448 + 20 * consumers;
  return (barriers + items + scales + 15) / 16 * 16;
}

/// The number of buffers: as many as fit, so that a consumer is soon free for the next tile. If
/// this number divides that of the subtiles, the kernel's compiler knows the buffer of each
/// subtile. `must_divide`: the consumers have no registers to find it out.
template <class Fits>
int most_buffers(int subtiles, int fewest, bool must_divide, const Fits& fits) {
  for (int buffers = subtiles; buffers > fewest; --buffers) {
    if (subtiles % buffers == 0 && fits(buffers)) return buffers;
  }
  if (must_divide) return std::min(subtiles, fewest);
  for (const int buffers : {4, 2}) {
    if (buffers < subtiles && buffers > fewest && fits(buffers)) return buffers;
  }
  return std::min(subtiles, fewest);
}

}  // namespace

Staging staging_of(const Tile& tile, const GpuLimits& limits, Elements elements) {
  Staging staging{.ping_pong = uses_ping_pong(tile, limits, elements), .subtile = subtile_of(tile)};
  const int parts = tile.down() / kRows;
  staging.consumers = staging.ping_pong || parts == 4 ? 2 : parts;
  staging.subtiles = parts / staging.of_one_tile() * (tile.across() / staging.subtile);
  const auto bytes = [&](int buffers) {
    return ring_bytes(tile) + staging.consumers * buffers * subtile_bytes(tile, elements);
  };
  constexpr int kManySums = 176;  // of a thread of a consumer
  const int sums = parts / staging.of_one_tile() * tile.across() / 2;
  const int scales = scale_bytes(tile, staging, sums, elements);
  const auto fits = [&](int buffers) {
    return bytes(buffers) + static_bytes(tile.stages, buffers, staging.consumers, scales) <=
           limits.shared_memory_bytes;
  };
  staging.buffers = most_buffers(staging.subtiles, fewest_buffers(tile), sums >= kManySums, fits);
  staging.shared_bytes = bytes(staging.buffers);
  staging.fits = fits(staging.buffers);
  return staging;
}

}  // namespace overlaptune
