#pragma once
// The parameters of generated GEMMs whose work comes from a queue (kernels/device/waits.cuh): for
// kernels that wait for rows (rows.cuh), and for those that store at ranks (at_ranks.cuh).

#include "run/gemm/generated_kernel.hpp"
#include "strategies/waiting/push_order.hpp"

namespace overlaptune::run {

/// Properties of the kernel and of its tiles that the queue of a launch depends on.
struct QueuedKernel {
  Tile tile{};
  Elements elements = Elements::bf16;
  int ctas_an_item = 1;     ///< 2: a cluster takes an item for both of its CTAs
  int tiles_an_item = 1;    ///< 2: each CTA of a cluster has a tile
  bool tiles_push = false;  ///< as of `TiledKernel`
};

/// The items of a launch.
struct QueuedItems {
  std::int64_t all = 0;
  std::int64_t homes = 0;  ///< the first items, which wait for nothing
  /// Shares of the rows of a group. One CTA pushes each; with chunks of columns, it pushes its
  /// share of every group.
  std::int64_t shares = 0;
  PushOrder order{};
};

/// `tiles`: those that are computed. `sms`: SMs of a launch.
[[nodiscard]] QueuedItems queued_items(const QueuedKernel& kernel,
                                       const GeneratedOperands& operands, std::int64_t tiles,
                                       int sms);

/// Whether clusters go on by equal steps where all are there. Else whoever is free takes the next
/// item: faster by 1 to 4 % where clusters wait for different times, for tiles of the peers that
/// are to be added, and have many items over which that evens out; slower by 2 % with 16 items each
/// on 4 GPUs (docs/results/kernels.md, "Homes").
[[nodiscard]] bool goes_on_by_steps(const GeneratedOperands& operands, const QueuedItems& items,
                                    unsigned clusters);

/// The run of a launch of `clusters` clusters.
[[nodiscard]] kernels::device::Run run_of(const GeneratedOperands& operands,
                                          const QueuedItems& items, unsigned clusters);

/// The tensor maps of this rank's own rows, for a kernel with TMA: where they are, and, where tiles
/// push, in the memory of the next rank, the one behind it, and so on.
struct MapsOfRows {
  kernels::device::TensorMap own{};
  std::vector<kernels::device::TensorMap> gathered{};
};

/// The rows of a launch. `most_groups`: that the kernel was made for.
[[nodiscard]] std::vector<std::byte> rows_parameter(const TileOrder& order,
                                                    const GeneratedOperands& operands,
                                                    const QueuedKernel& kernel,
                                                    const QueuedItems& items, int most_groups,
                                                    const MapsOfRows& maps);

/// The stores of a launch. `maps`: those of the rows that this rank's tiles fill at each rank.
/// `bytes_under_way`: most of the stores that a storing warp has begun and that are not read yet.
[[nodiscard]] std::vector<std::byte> stores_parameter(
    const GeneratedStores& stores, std::span<const kernels::device::TensorMap> maps,
    int most_groups, int bytes_under_way);

}  // namespace overlaptune::run
