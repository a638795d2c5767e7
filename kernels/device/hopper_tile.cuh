#pragma once
// A tile of the GEMM on Hopper: what follows from it, which steps and subtiles a CTA and a consumer
// have, and the launch that its warps work on.

#include "kernels/device/ptx/hopper.cuh"
#include "kernels/device/rows.cuh"

namespace overlaptune::kernels::device {

/// A tile, and how a CTA computes it (`HopperLayout` in kernels/hopper_gemm.hpp). A step of k is
/// one swizzled row of 128 bytes: 64 elements, or 128 of 8 bits.
struct HopperTile {
  int block_m;
  int block_n;
  int multiplied;  ///< columns of one wgmma: those of the tile, or half of them
  int stages;      ///< of the ring
  int cluster;     ///< CTAs: 1 or 2
  int consumers;   ///< warpgroups, each of 64 or 128 rows of wgmmas
  bool ping_pong;  ///< the two consumers take tiles in turn (ping-pong); else each has a part of
                   ///< every tile
  /// Staging buffers for C, of each consumer: at most its subtiles of a tile; 2 or 4 where they do
  /// not divide those.
  int buffers;
  Element operand;  ///< elements of A and B; those of 8 bits have scales
  Element result;   ///< elements of C: 16 bits
  bool exact;       ///< tensor cores add up the products of each step alone (hopper_products.cuh)
};

/// Whether work comes from the queue of waits.cuh, and waits for ranks.
template <class Feed, class Epilogue>
constexpr bool kIsQueued = Feed::kWaits || Epilogue::kAtRanks;
/// The parameter of such a launch; else there is none.
template <class Feed, class Epilogue>
using RunFor = Either<kIsQueued<Feed, Epilogue>, Run, NoRun>;

/// Whether A and B have scales, and the parameter that says where.
template <HopperTile kTile>
constexpr bool kIsScaled = kTile.operand == Element::e4m3;
template <HopperTile kTile>
using ScalesFor = Either<kIsScaled<kTile>, ScaleParams, NoParams>;

/// A kernel for a tile, a feed (rows.cuh) and an epilogue (into_c.cuh, at_ranks.cuh).
template <HopperTile kTile, class FeedOfRows, class EpilogueOfTiles>
struct HopperGemm {
  using Scales = ScalesFor<kTile>;
  using Feed = FeedOfRows;
  using Epilogue = EpilogueOfTiles;
  static constexpr bool kQueued = kIsQueued<Feed, Epilogue>;

  static constexpr int kBlockM = kTile.block_m;
  static constexpr int kBlockN = kTile.block_n;
  static constexpr int kMultiplied = kTile.multiplied;
  static constexpr int kStages = kTile.stages;
  static constexpr int kCluster = kTile.cluster;
  static constexpr int kConsumers = kTile.consumers;
  static constexpr bool kPingPong = kTile.ping_pong;
  static constexpr int kBuffers = kTile.buffers;
  static constexpr Element kOperand = kTile.operand;
  static constexpr Element kResult = kTile.result;
  static constexpr bool kScaled = kIsScaled<kTile>;
  static constexpr bool kExact = kTile.exact;

  static constexpr int kRowBytes = 128;
  static constexpr int kBlockK = kOperand == Element::e4m3 ? kRowBytes : kRowBytes / 2;
  static constexpr int kABytes = kBlockM * kRowBytes;
  static constexpr int kBBytes = kBlockN * kRowBytes;
  static constexpr int kStageBytes = kABytes + kBBytes;
  /// Columns of the tile, rows of the tensor map of B, that are loaded at a time.
  static constexpr int kBLoad = kBlockN / kCluster;
  static constexpr int kBLoadBytes = kBLoad * kRowBytes;
  /// `Tile` in core/config/tile.hpp: whether the tile swaps A and B, and the rows and columns of
  /// its wgmmas.
  static constexpr bool kSwapAb = kBlockM % 64 != 0;
  static constexpr int kDown = kSwapAb ? kBlockN : kBlockM;
  static constexpr int kAcross = kSwapAb ? kBlockM : kBlockN;
  /// Columns of wgmmas that are staged at a time: the widest swizzled row that divides them.
  static constexpr int kSubtile = kAcross % 64 == 0 ? 64 : kAcross % 32 == 0 ? 32 : 16;
  static constexpr int kSubtiles = kAcross / kSubtile;
  static constexpr int kSubtileBytes = 64 * kSubtile * 2;
  static constexpr int kOfOneTile = kPingPong ? 1 : kConsumers;  ///< consumers of one tile
  /// Releases of a stage before it is loaded into again: by the consumers of the tile in all CTAs
  /// that load it, and by the warp that may push it.
  static constexpr int kReleases = kCluster * kOfOneTile + (Feed::kTilesPush ? 1 : 0);
  static_assert(!Feed::kTilesPush || (kCluster == 1 && kConsumers < 3), "may_push of arrivals.hpp");
  /// Parts of 64 rows of wgmmas, for each consumer.
  static constexpr int kParts = kDown / 64 / kOfOneTile;
  static constexpr int kSubtilesOfConsumer = kParts * kSubtiles;  ///< of a tile
  static constexpr int kAccumulators = kAcross / 2;
  /// Number of columns of subtiles, those of the wgmmas, that the first of two CTAs stores that
  /// share a tile; the second one stores the others.
  static constexpr int kFirstSubtiles = (kSubtiles + 1) / 2;

  /// Whether no registers are left for scales (hopper_scales.cuh; `scale_bytes` in
  /// core/config/staging.cpp).
  static constexpr bool kKeepsScales = kScaled && kPingPong && kParts * kAccumulators >= 176;

  // Registers of each thread of the first warpgroup, and of a consumer. Together a CTA cannot have
  // more than it was launched with: 168 for each of 384 threads, 128 for each of 512. Launches that
  // wait for ranks take more of them in the first warpgroup, if the consumers can spare them.
  static constexpr bool kSpares =
      Epilogue::kAtRanks ? kConsumers == 3 || kCluster == 1 || kParts * kAccumulators < 192
      : Feed::kTilesPush ? kParts * kAccumulators <= 96
      : Feed::kWaits     ? kConsumers == 3 && kAcross <= 240
                         : false;
  /// Whether launches may wait for chunks of columns (`may_have_chunks` in
  /// strategies/waiting/arrivals.hpp): of three consumers the loading thread does, if it has the
  /// registers.
  static constexpr bool kWaitsForChunks = Feed::kWaits && (kSpares || kConsumers < 3);
  static constexpr int kLoaderRegisters = kSpares ? 56 : kConsumers == 3 ? 32 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 3   ? (kSpares ? 152 : 160)
                                            : kConsumers == 2 ? (kSpares ? 224 : 232)
                                                              : 240;

  /// Subtiles pass through the staging buffers of their consumer in turn: in a *pass*, all subtiles
  /// of a tile do, also those that the CTA does not store. Where the buffers divide the subtiles,
  /// every pass begins with the first buffer, and the compiler knows the buffer of each subtile.
  static constexpr bool kWholePasses = kSubtilesOfConsumer % kBuffers == 0;
};

/// The parameters of a launch of a kernel `K`.
template <class K>
struct Launch {
  const TensorMap& a;
  const TensorMap& b;
  const Order& order;
  const typename K::Feed::Params& feed;
  const typename K::Epilogue::Params& epilogue;
  const RunFor<typename K::Feed, typename K::Epilogue>& run;
  const typename K::Scales& scales;
};

/// A barrier for each stage when it is full and when it is empty, for each staging buffer when it
/// is filled and when it is free, and for the turns of two consumers.
template <class K>
struct Barriers {
  u64 all[2 * K::kStages + 2 * K::kBuffers * K::kConsumers + 2];
};

/// The offset in a subtile of the 16 bytes of column group `chunk` of a row of C. Rows of 128, 64
/// or 32 bytes are swizzled as the tensor map of C says.
template <class K>
__device__ __forceinline__ u32 subtile_offset(int row, int chunk) {
  constexpr int kColumns = K::kSwapAb ? 64 : K::kSubtile;
  const int turn = kColumns == 64 ? row & 7 : kColumns == 32 ? (row >> 1) & 3 : (row >> 2) & 1;
  return static_cast<u32>(row * kColumns * 2 + (chunk ^ turn) * 16);
}

/// Whether a CTA has work at this tile. A cluster computes its last tile as a whole: a CTA that has
/// no tile of its own left computes its partner's once more, and stores nothing.
template <class K>
__device__ __forceinline__ bool has_tile(const Order& order, int tile) {
  return (K::kCluster == 2 ? tile & ~1 : tile) < order.tiles;
}
__device__ __forceinline__ int computed(const Order& order, int tile) {
  return tile < order.tiles ? tile : tile - 1;
}

/// Whether two CTAs share each tile. (Three consumers have no registers for that.)
template <class K>
__device__ __forceinline__ bool splits_k(const Order& order) {
  return K::kCluster == 1 && K::kConsumers < 3 && order.ctas == 2;
}
template <class K>
__device__ __forceinline__ int first_step(const Order& order) {
  return splits_k<K>(order) && cluster_rank() == 1 ? (order.k_steps + 1) / 2 : 0;
}
template <class K>
__device__ __forceinline__ int last_step(const Order& order) {
  return splits_k<K>(order) && cluster_rank() == 0 ? (order.k_steps + 1) / 2 : order.k_steps;
}
/// Whether the CTA stores a subtile, given by its number among those of a consumer.
template <class K>
__device__ __forceinline__ bool stores(const Order& order, int subtile) {
  return !splits_k<K>(order) ||
         (subtile % K::kSubtiles < K::kFirstSubtiles) == (cluster_rank() == 0);
}

/// The first row of a consumer among the rows of a tile's wgmmas.
template <class K>
__device__ __forceinline__ int first_of(int consumer) {
  return K::kPingPong ? 0 : consumer * K::kParts * 64;
}
/// The place in C of a consumer's first subtile, and of another one. `tile`: the place of the tile.
template <class K>
__device__ __forceinline__ Place first_subtile(Place tile, int consumer) {
  (K::kSwapAb ? tile.column : tile.row) += first_of<K>(consumer);
  return tile;
}
template <class K>
__device__ __forceinline__ Place place_of_subtile(Place first, int subtile) {
  (K::kSwapAb ? first.column : first.row) += subtile / K::kSubtiles * 64;
  (K::kSwapAb ? first.row : first.column) += subtile % K::kSubtiles * K::kSubtile;
  return first;
}

/// The buffer of a subtile, and how often that buffer was used before. `pass`: passes before this
/// one.
template <class K>
__device__ __forceinline__ u32 buffer_of(u32 pass, u32 subtile) {
  return (K::kWholePasses ? subtile : pass * K::kSubtilesOfConsumer + subtile) % K::kBuffers;
}
template <class K>
__device__ __forceinline__ u32 uses_before(u32 pass, u32 subtile) {
  return K::kWholePasses ? pass * (K::kSubtilesOfConsumer / K::kBuffers) + subtile / K::kBuffers
                         : (pass * K::kSubtilesOfConsumer + subtile) / K::kBuffers;
}

}  // namespace overlaptune::kernels::device
