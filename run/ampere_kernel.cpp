#include <algorithm>

#include "kernels/ampere_gemm.hpp"
#include "run/generated_queue.hpp"

namespace overlaptune::run {
namespace {

class AmpereKernel : public GeneratedKernel {
 public:
  AmpereKernel(kernels::KernelSource source, const kernels::AmpereLayout& layout,
               const TiledKernel& kernel)
      : GeneratedKernel(std::move(source), layout.threads, layout.shared_bytes, layout.signals),
        queued_({.tile = kernel.tile, .elements = kernel.elements}),
        room_(LaunchRoom::of(kernel)) {}

  [[nodiscard]] GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                        const GeneratedOperands& operands,
                                        std::uint32_t* counters) const override {
    const auto k = static_cast<std::int32_t>(operands.k - operands.left_out_k);
    const std::int64_t tiles = order.tiles() - operands.left_out_tiles;
    if (tiles <= 0) return {};
    check_room(operands, room_);
    const QueuedItems items = queued_items(queued_, operands, tiles, crew.sms);
    const Turns turns = turns_of(crew, items.all, 1);
    const kernels::AmpereOperands head{.a = operands.a,
                                       .b = operands.b,
                                       .a_block_stride = order.block_rows * operands.k,
                                       .a_stride = static_cast<std::int32_t>(operands.k),
                                       .b_stride = static_cast<std::int32_t>(operands.k),
                                       .rows = static_cast<std::int32_t>(order.block_rows),
                                       .n = static_cast<std::int32_t>(order.n),
                                       .k = k};
    const kernels::AmpereOrder places{.panels = static_cast<std::int32_t>(order.panels_per_block()),
                                      .blocks = operands.rows ? 1 : order.blocks,
                                      .columns = static_cast<std::int32_t>(order.columns()),
                                      .raster = static_cast<std::int32_t>(std::min<std::int64_t>(
                                          order.raster, order.panels_per_block())),
                                      .tiles = static_cast<std::int32_t>(tiles),
                                      .k_steps = (k + 63) / 64,
                                      .early = turns.early,
                                      .leaving = turns.leaving,
                                      .counters = counters};
    std::vector<kernels::AmpereSegment> segments(room_.segments);
    for (std::size_t i = 0; i < operands.segments.size(); ++i) {
      const GeneratedSegment& segment = operands.segments[i];
      const Region& region = segment.region;
      segments[i] = {.end = static_cast<std::int32_t>(region.end),
                     .counter = segment.counter,
                     .first_row = static_cast<std::int32_t>(region.first_row),
                     .first_column = static_cast<std::int32_t>(region.first_column),
                     .c = segment.c,
                     .row_stride = segment.row_stride,
                     .block_stride = segment.block_stride};
    }
    // The order and its segments are one parameter.
    GeneratedLaunch launch{.parameters = {packed<kernels::AmpereOperands>({&head, 1}),
                                          packed<kernels::AmpereOrder, kernels::AmpereSegment>(
                                              {&places, 1}, segments)},
                           .blocks = turns.blocks};
    if (room_.waits > 0) {
      launch.parameters.push_back(packed_rows(order, operands, queued_, items, room_));
      launch.parameters.push_back(
          packed_run(operands, items, turns.blocks, kernels::RankWords::kMostRanks));
    }
    return launch;
  }

 private:
  QueuedKernel queued_;
  LaunchRoom room_;
};

}  // namespace

Expected<std::unique_ptr<GeneratedKernel>> ampere_kernel(const TiledKernel& kernel,
                                                         int compute_capability) {
  auto source = kernels::portable_source(kernel, compute_capability);
  if (!source) return error_of(source);
  return std::make_unique<AmpereKernel>(
      std::move(*source),
      *kernels::ampere_layout(kernel.tile, kernels::portable_limits(compute_capability),
                              kernel.elements),
      kernel);
}

}  // namespace overlaptune::run
