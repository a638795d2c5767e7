#include <algorithm>
#include <array>
#include <bit>
#include <cuda.h>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/check.hpp"
#include "run/gemm/generated_queue.hpp"

namespace overlaptune::run {

namespace device = kernels::device;

namespace {

/// The amount that each consumer adds to the counter for a tile. Two CTAs that share the tile add
/// half of it each.
constexpr int kSignal = 2;

static_assert(sizeof(device::TensorMap) == sizeof(CUtensorMap));
static_assert(alignof(CUtensorMap) % alignof(device::TensorMap) == 0);

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode_tiled() {
  static const Encode entry = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    OVT_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                               cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess) {
      throw Failure(ErrorKind::machine_unavailable, "cuTensorMapEncodeTiled: not in this driver");
    }
    return reinterpret_cast<Encode>(found);
  }();
  return entry;
}

struct Matrix {
  const void* base = nullptr;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t blocks = 1;
  std::int64_t row_stride = 0;    ///< elements
  std::int64_t block_stride = 0;  ///< elements
};

/// With rows that are a multiple of these bytes apart, L2 fetches 256 bytes at a time.
constexpr std::int64_t kWideFetch = 64;

CUtensorMapDataType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Dtype::fp16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Dtype::e4m3:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
  return {};
}

/// The tensor map of blocks of rows. One copy moves a box of `rows` by `columns`. Elements outside
/// of a block are read as zero and not written. The swizzle in shared memory is as wide as a row of
/// the box.
device::TensorMap tensor_map(const Matrix& matrix, int columns, int rows, Dtype dtype) {
  const std::array<cuuint64_t, 3> size{static_cast<cuuint64_t>(matrix.columns),
                                       static_cast<cuuint64_t>(matrix.rows),
                                       static_cast<cuuint64_t>(matrix.blocks)};
  const std::array<cuuint64_t, 2> strides{
      static_cast<cuuint64_t>(matrix.row_stride * bytes_of(dtype)),
      static_cast<cuuint64_t>(matrix.block_stride * bytes_of(dtype))};
  const std::array<cuuint32_t, 3> box{static_cast<cuuint32_t>(columns),
                                      static_cast<cuuint32_t>(rows), 1};
  const std::array<cuuint32_t, 3> steps{1, 1, 1};
  const std::int64_t box_bytes = columns * bytes_of(dtype);
  const CUtensorMapSwizzle swizzle = box_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                       : CU_TENSOR_MAP_SWIZZLE_32B;
  // Rows that do not begin with a sector of L2 cost more with the wide fetch
  // (tests/bench/shapes_bench).
  const bool wide = matrix.row_stride * bytes_of(dtype) % kWideFetch == 0;
  CUtensorMap map{};
  const CUresult code = encode_tiled()(
      &map, type_of(dtype), 3, const_cast<void*>(matrix.base), size.data(), strides.data(),
      box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      wide ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("cuTensorMapEncodeTiled: error {} for {} x {} x {} elements",
                              static_cast<int>(code), matrix.blocks, matrix.rows, matrix.columns));
  }
  return std::bit_cast<device::TensorMap>(map);
}

device::ScaleParams scales_parameter(const TileOrder& order, const GeneratedOperands& operands,
                                     Elements elements) {
  return {.a = operands.scales.a,
          .own_a = operands.rows ? operands.rows->own_scales : nullptr,
          .b = operands.scales.b,
          .own_block = operands.rows ? operands.rows->own_block : 0,
          .stride = scales_of(elements) == Scales::rows ? 1 : 0,
          .rows = static_cast<int>(order.block_rows),
          .n = static_cast<int>(order.n)};
}

class HopperKernel : public GeneratedKernel {
 public:
  HopperKernel(const kernels::HopperLayout& layout, const TiledKernel& kernel)
      : GeneratedKernel(layout.threads(), layout.shared_bytes, kSignal * layout.of_one_tile()),
        kernel_(kernel),
        subtile_columns_(kernel_.tile.swaps_ab() ? Tile::kInstructionRows : layout.subtile),
        subtile_rows_(kernel_.tile.swaps_ab() ? layout.subtile : Tile::kInstructionRows),
        bytes_under_way_(std::min(layout.buffers, 2) * layout.subtile * Tile::kInstructionRows *
                         static_cast<int>(result_bytes(kernel_.elements))) {}

  [[nodiscard]] GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                        const GeneratedOperands& operands,
                                        std::uint32_t* counters) const override {
    const std::int64_t k = operands.k - operands.left_out_k;
    const std::int64_t tiles = order.tiles() - operands.left_out_tiles;
    if (tiles <= 0) return {};
    check_room(operands, kernel_);
    const bool is_queued = operands.rows || operands.stores;  // then the kernel has one row block
    // CTAs that share a tile have no other item: they could not push rows for it.
    const bool pushes = operands.rows && operands.rows->pushes;
    const int ctas = pushes ? 1
                            : ctas_per_tile(order, kernel_.tile, k, crew.sms - crew.leaving,
                                            gpu_limits(kernels::kHopper));
    const QueuedKernel queued{.tile = kernel_.tile,
                              .elements = kernel_.elements,
                              .ctas_an_item = std::max(ctas, kernel_.tile.cluster),
                              .tiles_an_item = kernel_.tile.cluster,
                              .tiles_push = kernel_.tiles_push};
    const QueuedItems items = queued_items(queued, operands, tiles, crew.sms);
    // Whole clusters. The last one may have a tile for only one of its CTAs. CTAs that share a tile
    // have no other item.
    const Turns turns = ctas > 1
                            ? Turns{.blocks = static_cast<unsigned>(ctas * items.all)}
                            : turns_of(crew, (is_queued ? items.all * kernel_.tile.cluster : tiles),
                                       kernel_.tile.cluster);
    const device::TensorMap b =
        tensor_map({.base = operands.b,
                    .columns = k,
                    .rows = order.n,
                    .row_stride = operands.k,
                    .block_stride = order.n * operands.k},
                   kernel_.tile.block_k, kernel_.tile.block_n / kernel_.tile.cluster,
                   operand_of(kernel_.elements));
    device::Order places = order_of(order, is_queued ? 1 : order.blocks, tiles, k, turns, counters);
    places.ctas = ctas;
    places.signal = kSignal / ctas;
    const unsigned clusters = turns.blocks / static_cast<unsigned>(queued.ctas_an_item);
    if (is_queued && clusters > kernels::RankFlags::kMostClusters) {
      throw Failure(ErrorKind::bad_input,
                    fmt::format("a launch of {} clusters that take items from a queue: at most {}",
                                clusters, kernels::RankFlags::kMostClusters));
    }
    return {.parameters = {parameter(map_of_a(operands.a, order.blocks, order, operands)),
                           parameter(b), parameter(places),
                           operands.rows
                               ? rows_parameter(order, operands, queued, items, kernel_.regions,
                                                maps_of_rows(order, operands))
                               : parameter(device::NoParams{}),
                           operands.stores ? stores_parameter(*operands.stores,
                                                              maps_of(*operands.stores, order),
                                                              kernel_.regions, bytes_under_way_)
                                           : into_c(order, operands),
                           is_queued ? parameter(run_of(operands, items, clusters))
                                     : parameter(device::NoRun{}),
                           scales_of(kernel_.elements) == Scales::none
                               ? parameter(device::NoParams{})
                               : parameter(scales_parameter(order, operands, kernel_.elements))},
            .blocks = turns.blocks,
            .cluster = static_cast<unsigned>(ctas)};
  }

 private:
  /// Row blocks of A; `a`: the first one.
  [[nodiscard]] device::TensorMap map_of_a(const void* a, int blocks, const TileOrder& order,
                                           const GeneratedOperands& operands) const {
    return tensor_map({.base = a,
                       .columns = operands.k - operands.left_out_k,
                       .rows = order.block_rows,
                       .blocks = blocks,
                       .row_stride = operands.k,
                       .block_stride = order.block_rows * operands.k},
                      kernel_.tile.block_k, kernel_.tile.block_m, operand_of(kernel_.elements));
  }

  [[nodiscard]] MapsOfRows maps_of_rows(const TileOrder& order,
                                        const GeneratedOperands& operands) const {
    const GeneratedRows& rows = *operands.rows;
    MapsOfRows maps{.own = map_of_a(rows.own, 1, order, operands)};
    if (!pushed_by_tiles(rows)) return maps;
    const std::int64_t before =
        rows.own_block * order.block_rows * operands.k * operand_bytes(kernel_.elements);
    const int ranks = operands.barrier.ranks;
    for (int turn = 1; turn < ranks; ++turn) {
      const auto peer = static_cast<std::size_t>((operands.barrier.rank + turn) % ranks);
      auto* const gathered = static_cast<std::byte*>(rows.pushes->gathered[peer]);
      maps.gathered.push_back(map_of_a(gathered + before, 1, order, operands));
    }
    return maps;
  }

  /// The segments of C.
  [[nodiscard]] std::vector<std::byte> into_c(const TileOrder& order,
                                              const GeneratedOperands& operands) const {
    return with_constant(kernel_.waits ? 1 : kernel_.regions, [&](auto count) {
      device::IntoCParams<count> into{};
      for (std::size_t i = 0; i < operands.segments.size(); ++i) {
        const GeneratedSegment& segment = operands.segments[i];
        const Region& region = segment.region;
        into.segments[i] = {static_cast<int>(region.end), segment.counter,
                            static_cast<int>(region.first_row),
                            static_cast<int>(region.first_column)};
        into.c[i] = tensor_map({.base = segment.c,
                                .columns = region.columns,
                                .rows = region.rows,
                                .blocks = order.blocks,
                                .row_stride = segment.row_stride,
                                .block_stride = segment.block_stride},
                               subtile_columns_, subtile_rows_, result_of(kernel_.elements));
      }
      return parameter(into);
    });
  }

  /// Rows of C; `c`: row 0, or null. The last coordinate is the place in a peer's memory, in units:
  /// blocks that overlap, each as large as C.
  [[nodiscard]] device::TensorMap map_of_c(void* c, const TileOrder& order,
                                           std::int64_t places = 1) const {
    if (c == nullptr) return {};
    const Dtype result = result_of(kernel_.elements);
    return tensor_map({.base = c,
                       .columns = order.n,
                       .rows = order.block_rows,
                       .blocks = places,
                       .row_stride = order.n,
                       .block_stride = device::kPlaceBytes / bytes_of(result)},
                      subtile_columns_, subtile_rows_, result);
  }
  /// The rows that this rank's tiles fill at each rank, in both parts of its memory.
  [[nodiscard]] std::vector<device::TensorMap> maps_of(const GeneratedStores& stores,
                                                       const TileOrder& order) const {
    std::vector<device::TensorMap> maps;
    for (const GeneratedStores::Peer& peer : stores.peers) {
      const bool is_own = std::cmp_equal(&peer - stores.peers.data(), stores.rank);
      maps.push_back(map_of_c(peer.c, order, is_own ? 1 : stores.places));
      maps.push_back(map_of_c(peer.result, order, stores.result_places));
    }
    return maps;
  }

  TiledKernel kernel_;
  int subtile_columns_;  // columns and rows of C in a subtile
  int subtile_rows_;
  int bytes_under_way_;  // of a storing warp: a subtile, and one before that is still read
};

}  // namespace

std::unique_ptr<GeneratedKernel> hopper_kernel(const TiledKernel& kernel) {
  return std::make_unique<HopperKernel>(
      value_or_throw(kernels::hopper_layout(kernel.tile, kernel.elements)), kernel);
}

}  // namespace overlaptune::run
