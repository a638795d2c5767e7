#pragma once
// The tiles of a generated GEMM, their order, and which prefixes of this order a collective can
// send; and how the rows of a problem are cut into chunks. Model, simulator and run library rely on
// the same rules. There are no times here.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/tile.hpp"
#include "core/config/transport.hpp"
#include "core/gpu.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The order of tiles. The m rows are `blocks` row blocks (see `row_blocks`); each is cut into
/// panels of block_m rows (the last one shorter). A *swizzle group* is the next `swizzle` panels of
/// every block; swizzle groups follow one another, and inside one the order is column by column,
/// each column holding one tile of every panel in it: down the first column, up the second one, and
/// so on, so that neighbours share operands where columns meet, too. A prefix of whole swizzle
/// groups is therefore contiguous in the standard layout (within each block), and a prefix of whole
/// columns holds the same number of rows of each block.
struct TileOrder {
  std::int64_t block_rows = 0;  ///< rows of one row block
  std::int64_t n = 0;
  int blocks = 1;
  int block_m = 0;
  int block_n = 0;
  int swizzle = 1;
  Elements elements{};

  [[nodiscard]] std::int64_t panels_per_block() const;
  [[nodiscard]] std::int64_t columns() const;  ///< tiles across n
  [[nodiscard]] std::int64_t swizzle_groups() const;
  [[nodiscard]] std::int64_t tiles() const;
  /// Tiles of one whole column of swizzle group `index` (the last swizzle group may be lower).
  [[nodiscard]] std::int64_t column_tiles(std::int64_t index) const;
  /// Rows of swizzle group `index`, over all blocks.
  [[nodiscard]] std::int64_t rows(std::int64_t index) const;
};

/// Heights of swizzle groups, in row panels, that searches try and probes measure.
inline constexpr std::array<int, 5> kTriedSwizzles{1, 2, 4, 8, 16};

[[nodiscard]] TileOrder tile_order(const Problem& problem, const Tile& tile, int swizzle);

/// The tiles of all row blocks as they run at once, where row blocks follow one another: as one row
/// block, so that a swizzle group has the panels that run together. Row blocks that end within a
/// tile stay apart, with about as many panels in a swizzle group.
[[nodiscard]] TileOrder walked_together(TileOrder order);

/// CTAs that compute each tile together, each one a share of the steps of k (split-K within a
/// cluster): 1 or 2. It is 2 on a GPU with clusters where the tiles leave half of the `sms` SMs
/// idle and `k` is at least `GpuLimits::least_shared_k`, unless the tile's clusters share operands
/// or the tile is `GpuLimits::unshared_down` far down. It is not a field of a config, because
/// it follows from these values.
[[nodiscard]] int ctas_per_tile(const TileOrder& order, const Tile& tile, std::int64_t k, int sms,
                                const GpuLimits& limits);

/// A place where the order may be cut: after `tiles` tiles, which hold `bytes` of C.
struct Cut {
  std::int64_t tiles = 0;
  Bytes bytes{};
  /// Whether the prefix is made of whole swizzle groups. A wave group between two such cuts is in
  /// the standard layout. Any other wave group is staged, and the received part must be copied into
  /// place; only peer access needs no copy, because it reads and writes in the standard layout.
  bool contiguous = true;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The cut at or before `tiles`: whole columns only. `tiles` is clamped to the tile count.
[[nodiscard]] Cut cut_at(const TileOrder& order, std::int64_t tiles);

/// The cuts at which it is worth ending a wave group when `sms` SMs compute. For each wave this is
/// the end of the last swizzle group that it completes. In the last of several swizzle groups,
/// whose copies come when the GEMM is about to end, and where a row block is a single panel, it is
/// the end of the wave's last whole column. (Elsewhere a lower swizzle has cuts that need no
/// copies.) Copy engines move whole swizzle groups only; with peer access no group is copied, and
/// each wave is cut after its last whole column. A problem may have millions of cuts, so this is
/// not a list of them.
class WaveCuts {
 public:
  /// `sms` >= 1.
  WaveCuts(const TileOrder& order, int sms, Transport transport);

  /// Number of cuts. The last one is the whole problem.
  [[nodiscard]] std::int64_t count() const { return before_ + waves_ - all_from_ + 1; }
  /// Cut `number`, from 1 to `count`. Neighbours may be the same, or the first ones empty,
  /// where a column has more tiles than a wave.
  [[nodiscard]] Cut operator[](std::int64_t number) const;
  /// The cuts of ascending numbers. Removes the numbers of empty and of repeated cuts.
  [[nodiscard]] std::vector<Cut> at(std::vector<std::int64_t>& numbers) const;

 private:
  TileOrder order_;
  std::int64_t sms_;
  std::int64_t waves_;
  std::int64_t whole_swizzle_;  ///< tiles of a swizzle group
  std::int64_t all_from_ = 0;   ///< the first wave from which on there is a cut for each wave
  std::int64_t before_ = 0;     ///< number of cuts before that
};

/// All of `WaveCuts`: ascending, without repetition.
[[nodiscard]] std::vector<Cut> wave_cuts(const TileOrder& order, int sms, Transport transport);

/// Whether a config of this transport may have this cut: copy engines move whole rows.
[[nodiscard]] bool allows(Transport transport, const Cut& cut);

/// The cuts after each wave group.
/// Error: a group is not positive or does not end on a whole column, or the sum is wrong.
[[nodiscard]] Expected<std::vector<Cut>> group_cuts(const TileOrder& order,
                                                    std::span<const std::int64_t> wave_groups);

/// A part of C that consecutive tiles fill: some columns of the same rows of every row block.
struct Region {
  std::int64_t end = 0;        ///< tiles up to the end of the region
  std::int64_t first_row = 0;  ///< within a row block
  std::int64_t rows = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;  ///< columns of C
  friend bool operator==(const Region&, const Region&) = default;
};

/// The regions that the tiles between two cuts fill, in their order. There are at most three: the
/// rest of one swizzle group, whole swizzle groups, and the first columns of another one.
[[nodiscard]] std::vector<Region> regions(const TileOrder& order, const Cut& begin, const Cut& end);

/// The number of regions of all wave groups together, when a group ends at each of the cuts.
[[nodiscard]] std::size_t region_count(const TileOrder& order, std::span<const Cut> cuts);

/// Most regions of one launch of a generated GEMM: its parameters have room for the descriptions of
/// this many.
inline constexpr int kMostRegions = 192;
/// The usual number of regions: a kernel with room for fewer regions takes less time to launch.
inline constexpr int kUsualRegions = 16;

/// A generated GEMM, compiled for launches that fill at most `regions` regions. If it `waits`, it
/// fills one region, and `regions` is the most wave groups whose rows it waits for; if its
/// `tiles_push` as well, those of the rank's own rows send them to the peers. If it stores into the
/// memory of `ranks` ranks, `regions` is the most wave groups.
struct TiledKernel {
  Tile tile{};
  Elements elements = Elements::bf16;
  int regions = 1;
  bool waits = false;
  int ranks = 0;
  bool tiles_push = false;
  friend auto operator<=>(const TiledKernel&, const TiledKernel&) = default;
};

/// The divisor of a group's bytes that gives what one rank receives: `ranks` for reduce-scatter,
/// else 1.
[[nodiscard]] int received_divisor(const Problem& problem);

/// Bytes that a rank must copy into place after a group that is not contiguous: what it received.
[[nodiscard]] Bytes reorder_bytes(const Problem& problem, const Cut& begin, const Cut& end);

/// Chunks are cut at multiples of this many rows, the most usual tile height of GEMM libraries,
/// because rows beyond a multiple cost a whole tile more. Where a chunk would be left without rows,
/// the unit is the largest smaller power of two that gives each chunk some.
inline constexpr std::int64_t kChunkRowUnit = 128;

/// The largest number of chunks that is worth trying. With more, a chunk's part of a row block
/// would be lower than a tile, or starting the chunks would take as long as running them.
[[nodiscard]] int most_chunks(const Problem& problem);

/// Rows of each chunk when the rows of one row block are cut into `chunks` nearly equal parts;
/// their sum times `row_blocks` is m. A chunk has one part in each row block: its GEMM is a batch
/// of `row_blocks` products that share B. Error: chunks < 1 or more than the rows of a block.
[[nodiscard]] Expected<std::vector<std::int64_t>> chunk_rows(const Problem& problem, int chunks);

/// Whether `chunk_rows` accepts the number of chunks. Error: the same.
[[nodiscard]] Expected<void> has_rows_for(const Problem& problem, int chunks);

}  // namespace overlaptune
