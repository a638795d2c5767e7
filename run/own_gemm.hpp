#pragma once
// Our own GEMM, whose tiles run in an order that we choose and say so when they are stored.

#include <map>
#include <span>
#include <vector>

#include "core/tiling.hpp"
#include "kernels/compile_all.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

/// Where the tiles of a region store what they fill: element (row 0, column 0) of the region in the
/// first row block, rows and row blocks so many elements apart.
struct OwnSegment {
  Region region{};
  int counter = 0;  ///< of its wave group
  void* c = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t block_stride = 0;
};

struct OwnOperands {
  const void* a = nullptr;  ///< [block][row][k]
  const void* b = nullptr;  ///< [n][k]
  std::int64_t k = 0;
  std::vector<OwnSegment> segments{};  ///< of consecutive tiles, all of them
  // For what is wrong on purpose:
  std::int64_t left_out_k = 0;
  std::int64_t left_out_tiles = 0;  ///< the last ones
};

/// All that one launch takes, made ready.
struct OwnLaunch {
  std::vector<std::vector<std::byte>> parameters{};
  unsigned blocks = 0;
};

/// A kernel of ours for one tile, loaded on the current GPU.
class OwnGemm {
 public:
  OwnGemm(OwnGemm&&) noexcept = default;
  OwnGemm& operator=(OwnGemm&&) noexcept = default;

  /// How far the counter of a group goes up for each of its tiles.
  [[nodiscard]] int signals_a_tile() const { return layout_.consumers; }

  /// On `sms` SMs. `counters` (device memory, zero before) go up as tiles are stored; null: none
  /// do. Throws `Failure` (`bad_input`) for what TMA cannot address.
  [[nodiscard]] OwnLaunch prepare(const TileOrder& order, int sms, const OwnOperands& operands,
                                  std::uint32_t* counters) const;

  /// No allocation, no synchronization.
  void enqueue(cudaStream_t stream, const OwnLaunch& launch) const;

 private:
  friend class OwnLibrary;
  OwnGemm(const Tile& tile, const kernels::HopperLayout& layout, Dtype dtype, int most_segments,
          const std::string& cubin);

  Tile tile_{};
  kernels::HopperLayout layout_{};
  Dtype dtype_{};
  int most_segments_ = 0;
  Handle<cudaLibrary_t, &cudaLibraryUnload> library_{};
  cudaKernel_t kernel_ = nullptr;
};

/// Our kernels: compiled when they are first asked for, or taken from the cache on disk.
class OwnLibrary {
 public:
  /// Error: `bad_input` for a tile that cannot be, or another GPU than Hopper's;
  /// `machine_unavailable` where NVRTC is not there.
  [[nodiscard]] Expected<const OwnGemm*> gemm(const TiledKernel& kernel);

  /// Compiles what the cache lacks, several at once. Processes that share a cache share the work,
  /// too: each begins at another place (`part` of `parts`). What cannot be compiled is told by
  /// `gemm`.
  static void compile(std::span<const TiledKernel> kernels, int part, int parts);

 private:
  struct Key {
    Tile tile{};
    Dtype dtype{};
    int segments = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, OwnGemm> gemms_{};
};

}  // namespace overlaptune::run
