#pragma once
// Which tiles a config's GEMM has, in which order, and what a prefix of that order is worth to the
// collective. This is the contract between whoever predicts, simulates or runs a config; it knows
// no times.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config.hpp"
#include "core/gpu.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The order of tiles. The m rows are `blocks` row blocks (see `row_blocks`); each is cut into
/// panels of block_m rows (the last one shorter). A *super panel* is the next `raster` panels of
/// every block; super panels follow one another, and inside one the order is column by column, each
/// column holding one tile of every panel in it. A prefix of whole super panels is therefore
/// contiguous in the standard layout (within each block), and a prefix of whole columns holds the
/// same number of rows of each block.
struct TileOrder {
  std::int64_t block_rows = 0;  ///< rows of one row block
  std::int64_t n = 0;
  int blocks = 1;
  int block_m = 0;
  int block_n = 0;
  int raster = 1;

  [[nodiscard]] std::int64_t panels_per_block() const;
  [[nodiscard]] std::int64_t columns() const;  ///< tiles across n
  [[nodiscard]] std::int64_t super_panels() const;
  [[nodiscard]] std::int64_t tiles() const;
  /// Tiles of one whole column of super panel `index` (the last super panel may be lower).
  [[nodiscard]] std::int64_t column_tiles(std::int64_t index) const;
  /// Rows of super panel `index`, over all blocks.
  [[nodiscard]] std::int64_t rows(std::int64_t index) const;
};

[[nodiscard]] TileOrder tile_order(const Problem& problem, const Tile& tile, int raster);

/// CTAs that compute each tile together, every one its share of the steps of k (split-K within a
/// cluster): 2 where the tiles leave half of the `sms` SMs idle and are deep enough for what it
/// costs to add up, on a GPU that has clusters, unless the tile's clusters share operands or its
/// three warpgroups (192 rows) have no registers for it; else 1. Nobody chooses: it follows from
/// the order and from the SMs.
[[nodiscard]] int ctas_per_tile(const TileOrder& order, const Tile& tile, std::int64_t k, int sms,
                                const GpuLimits& limits);

/// A place where the order may be cut: after `tiles` tiles, which hold `bytes` of C.
struct Cut {
  std::int64_t tiles = 0;
  Bytes bytes{};
  /// The prefix is whole super panels: a group between two such cuts lies in the standard layout;
  /// any other group is staged and its received part must be copied into place (not with peer
  /// access, which finds and leaves everything where it belongs).
  bool contiguous = true;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The cut at or before `tiles`: whole columns only. `tiles` is clamped to the tile count.
[[nodiscard]] Cut cut_at(const TileOrder& order, std::int64_t tiles);

/// The cuts that are worth ending a wave group when `sms` SMs compute: for each wave the last super
/// panel that it completes; its last whole column in the last of several super panels, whose copies
/// come when the GEMM is about to end, and where a row block is a single panel. (Elsewhere a lower
/// raster has cuts that need no copies.) Copy engines move whole super panels only; with peer
/// access no group is copied, and each wave is cut after its last whole column. Ascending, without
/// repetition; the last one is the whole problem. `sms` >= 1.
[[nodiscard]] std::vector<Cut> wave_cuts(const TileOrder& order, int sms, Transport transport);

/// Whether a config of this transport may have such a cut: copy engines move whole rows.
[[nodiscard]] bool allows(Transport transport, const Cut& cut);

/// The cuts after each group of `config.wave_groups`.
/// Error: a group that is not positive, does not end on a whole column, or a wrong sum.
[[nodiscard]] Expected<std::vector<Cut>> group_cuts(const TileOrder& order, const Config& config);

/// A part of C that consecutive tiles fill: the same rows of every row block, some columns of them.
struct Region {
  std::int64_t end = 0;        ///< tiles up to there
  std::int64_t first_row = 0;  ///< of a row block
  std::int64_t rows = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;  ///< of C
  friend bool operator==(const Region&, const Region&) = default;
};

/// Whether the config can be one of the problem's, on whatever GPU: `signaled` has a tile, and
/// groups that make up all tiles; `chunked` has chunks that the rows can be cut into; neither they
/// nor `sequential` have the other's; what `needs_ctas` has some; a kernel waits only where one
/// can. Error: the field and what is allowed.
[[nodiscard]] Expected<void> fits(const Problem& problem, const Config& config);

/// What the tiles between two cuts fill, in their order: at most the rest of one super panel, whole
/// super panels, and the first columns of another.
[[nodiscard]] std::vector<Region> regions(const TileOrder& order, const Cut& begin, const Cut& end);

/// A launch of ours has a description of each region among its parameters, of which there is room
/// for so many.
inline constexpr int kMostRegions = 192;
/// Kernels that are made for fewer take less time to launch.
inline constexpr int kUsualRegions = 16;

/// A GEMM of ours, to be compiled for launches that fill up to so many regions.
struct TiledKernel {
  Tile tile{};
  Dtype dtype = Dtype::bf16;
  int regions = 1;
  friend auto operator<=>(const TiledKernel&, const TiledKernel&) = default;
};

/// What a config needs; nothing where the library computes, or where the config does not fit.
[[nodiscard]] std::optional<TiledKernel> kernel_of(const Problem& problem, const Config& config);

/// A rank receives the whole of a group divided by this: `ranks` for reduce-scatter, else 1.
[[nodiscard]] int received_divisor(const Problem& problem);

/// Bytes of the collective buffer that a rank must copy into place after a group that is not
/// contiguous: what it received.
[[nodiscard]] Bytes reorder_bytes(const Problem& problem, const Cut& begin, const Cut& end);

/// Chunks are cut at multiples of so many rows, the height of the tiles that libraries like best,
/// or of the largest power of two below it that leaves each chunk one: what hangs over costs a
/// tile.
inline constexpr std::int64_t kChunkRowUnit = 128;

/// More are not worth trying: the chunks of row blocks would be lower than a tile, or so many that
/// starting them takes as long as they do.
[[nodiscard]] int most_chunks(const Problem& problem);

/// Rows of each chunk when the rows of one row block are cut into `chunks` nearly equal parts;
/// their sum times `row_blocks` is m. The rows of a chunk lie apart, one part in each row block:
/// its GEMM is a batch of `row_blocks` products that share B. Error: chunks < 1 or more than the
/// rows of a block.
[[nodiscard]] Expected<std::vector<std::int64_t>> chunk_rows(const Problem& problem, int chunks);

}  // namespace overlaptune
