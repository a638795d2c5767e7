#include <algorithm>

#include "kernels/ampere_gemm.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "run/gemm/generated_queue.hpp"

namespace overlaptune::run {

namespace device = kernels::device;

namespace {

class AmpereKernel : public GeneratedKernel {
 public:
  AmpereKernel(const kernels::AmpereLayout& layout, const TiledKernel& kernel)
      : GeneratedKernel(layout.threads, layout.shared_bytes, layout.signals), kernel_(kernel) {}

  [[nodiscard]] GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                        const GeneratedOperands& operands,
                                        std::uint32_t* counters) const override {
    const auto k = static_cast<std::int32_t>(operands.k - operands.left_out_k);
    const std::int64_t tiles = order.tiles() - operands.left_out_tiles;
    if (tiles <= 0) return {};
    check_room(operands, kernel_);
    const Turns turns = turns_of(crew, tiles, 1);
    const device::AmpereOperands head{.a = operands.a,
                                      .b = operands.b,
                                      .a_block_stride = order.block_rows * operands.k,
                                      .a_stride = static_cast<std::int32_t>(operands.k),
                                      .b_stride = static_cast<std::int32_t>(operands.k),
                                      .rows = static_cast<std::int32_t>(order.block_rows),
                                      .n = static_cast<std::int32_t>(order.n),
                                      .k = k};
    return {.parameters = {parameter(head),
                           parameter(order_of(order, order.blocks, tiles, k, turns, counters)),
                           into_rows(operands)},
            .blocks = turns.blocks};
  }

 private:
  /// The segments of C.
  [[nodiscard]] std::vector<std::byte> into_rows(const GeneratedOperands& operands) const {
    return with_constant(kernel_.regions, [&](auto count) {
      device::IntoRowsParams<count> into{};
      for (std::size_t i = 0; i < operands.segments.size(); ++i) {
        const GeneratedSegment& segment = operands.segments[i];
        const Region& region = segment.region;
        into.segments[i] = {
            .tiles = {static_cast<int>(region.end), segment.counter,
                      static_cast<int>(region.first_row), static_cast<int>(region.first_column)},
            .c = segment.c,
            .row_stride = segment.row_stride,
            .block_stride = segment.block_stride};
      }
      return parameter(into);
    });
  }

  TiledKernel kernel_;
};

}  // namespace

std::unique_ptr<GeneratedKernel> ampere_kernel(const TiledKernel& kernel, int compute_capability) {
  const GpuLimits& limits = kernels::portable_limits(compute_capability);
  return std::make_unique<AmpereKernel>(
      value_or_throw(kernels::ampere_layout(kernel.tile, limits, kernel.elements)), kernel);
}

}  // namespace overlaptune::run
