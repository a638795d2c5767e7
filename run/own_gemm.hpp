#pragma once
// Our own GEMM, whose tiles run in an order that we choose and say so when they are stored.

#include <map>
#include <span>
#include <vector>

#include "core/tiling.hpp"
#include "kernels/compiler.hpp"
#include "kernels/cubin_cache.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

/// Tiles up to `end` of the order, and where their rows of C go: rows `first_row ..
/// first_row + rows` of every row block, n to a row, row blocks `block_stride` elements apart.
struct OwnGroup {
  std::int64_t end = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  void* c = nullptr;
  std::int64_t block_stride = 0;
};

struct OwnOperands {
  const void* a = nullptr;  ///< [block][row][k]
  const void* b = nullptr;  ///< [n][k]
  std::int64_t k = 0;
  std::vector<OwnGroup> groups{};
  // For what is wrong on purpose:
  std::int64_t left_out_k = 0;
  std::int64_t left_out_tiles = 0;  ///< the last ones
};

/// A kernel of ours for one tile, loaded on the current GPU.
class OwnGemm {
 public:
  OwnGemm(OwnGemm&&) noexcept = default;
  OwnGemm& operator=(OwnGemm&&) noexcept = default;

  /// How far the counter of a group goes up for each of its tiles.
  [[nodiscard]] int signals_a_tile() const { return layout_.consumers; }

  /// On `sms` SMs. `counters` (device memory, one a group, zero before) go up as tiles are stored;
  /// null: none do. No allocation, no synchronization.
  void enqueue(cudaStream_t stream, const TileOrder& order, int sms, const OwnOperands& operands,
               std::uint32_t* counters) const;

 private:
  friend class OwnLibrary;
  OwnGemm(const kernels::HopperLayout& layout, Dtype dtype, int groups, const std::string& cubin);

  kernels::HopperLayout layout_{};
  Dtype dtype_{};
  int most_groups_ = 0;
  Handle<cudaLibrary_t, &cudaLibraryUnload> library_{};
  cudaKernel_t kernel_ = nullptr;
};

/// Our kernels: compiled when they are first asked for, or taken from the cache on disk.
class OwnLibrary {
 public:
  /// Error: `bad_input` for a tile that cannot be, or another GPU than Hopper's;
  /// `machine_unavailable` where NVRTC is not there.
  [[nodiscard]] Expected<const OwnGemm*> gemm(const Tile& tile, Dtype dtype, int groups);

 private:
  struct Key {
    Tile tile{};
    Dtype dtype{};
    int groups = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, OwnGemm> gemms_{};
};

}  // namespace overlaptune::run
