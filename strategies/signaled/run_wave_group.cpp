#include "strategies/signaled/run_wave_group.hpp"

#include "kernels/exchange.hpp"
#include "run/check.hpp"
#include "run/exchange/collective.hpp"
#include "run/exchange/elements.hpp"

namespace overlaptune::run {
namespace {

std::int64_t elements_of(const std::vector<Region>& regions) {
  std::int64_t count = 0;
  for (const Region& region : regions) count += region.rows * region.columns;
  return count;
}

}  // namespace

WaveGroup::WaveGroup(const Problem& problem, const CommKey& route, const TileOrder& order,
                     const Cut& begin, const Cut& end)
    : problem_(problem),
      route_(route),
      regions_(regions(order, begin, end)),
      contiguous_(begin.contiguous && end.contiguous),
      blocks_(order.blocks),
      elements_(elements_of(regions_)),
      before_(begin.bytes.count / result_bytes(problem.elements)),
      block_rows_(order.block_rows) {}

/// Staged groups follow one another, each as [row block][region][row][column].
std::byte* WaveGroup::staged(const Operands& operands) const {
  return at(operands.workspace, before_, result_of(problem_.elements));
}

void WaveGroup::add_segments(int counter, const Operands& operands,
                             std::vector<GeneratedSegment>& to) const {
  // An all-reduce of whole rows works in place.
  const bool in_place = contiguous_ && traits_of(problem_.op).in_place();
  const Dtype dtype = result_of(problem_.elements);
  std::int64_t offset = 0;
  for (const Region& region : regions_) {
    to.push_back({.region = region,
                  .counter = counter,
                  .c = in_place ? at(operands.c, region.first_row * problem_.n, dtype)
                                : at(staged(operands), offset, dtype),
                  .row_stride = region.columns,
                  .block_stride = elements_});
    offset += region.rows * region.columns;
  }
}

/// Copies a group from [row block][region][row][column] into place in C, which may have only the
/// block of this rank.
void WaveGroup::enqueue_reorder(cudaStream_t stream, const std::byte* from,
                                const Operands& operands) const {
  const Dtype dtype = result_of(problem_.elements);
  const std::int64_t bytes = bytes_of(dtype);
  std::int64_t before = 0;
  for (const Region& region : regions_) {
    const std::int64_t first = region.first_row * problem_.n + region.first_column;
    OVT_CHECK(kernels::move(stream, {.to = at(operands.c, first, dtype),
                                     .from = at(from, before, dtype),
                                     .row_bytes = region.columns * bytes,
                                     .rows = region.rows,
                                     .stride = problem_.n * bytes,
                                     .blocks = traits_of(problem_.op).c_is_block ? 1 : blocks_,
                                     .to_block = block_rows_ * problem_.n * bytes,
                                     .from_block = elements_ * bytes}));
    before += region.rows * region.columns;
  }
}

/// The first row of the group in C.
std::byte* WaveGroup::in_c(const Operands& operands) const {
  return at(operands.c, regions_.front().first_row * problem_.n, result_of(problem_.elements));
}

CopyPiece WaveGroup::copy_piece(const Operands& operands) const {
  const std::int64_t bytes = result_bytes(problem_.elements);
  return {.send = staged(operands),
          .send_stride = elements_ * bytes,
          .receive = in_c(operands),
          .stride = block_rows_ * problem_.n * bytes,
          .part = elements_ * bytes};
}

void WaveGroup::enqueue_exchange(cudaStream_t stream, World& world,
                                 const Operands& operands) const {
  const OpTraits& op = traits_of(problem_.op);
  const Dtype dtype = result_of(problem_.elements);
  std::byte* const stage = staged(operands);
  if (op.sums) {
    std::byte* const own = op.c_is_block ? at(stage, world.rank() * elements_, dtype) : stage;
    std::byte* const sums = contiguous_ ? in_c(operands) : own;
    enqueue(stream, world, route_, op.collective, dtype, op.in_place() ? sums : stage, sums,
            elements_ * blocks_);
    if (!contiguous_) enqueue_reorder(stream, sums, operands);
    return;
  }
  if (contiguous_) {
    enqueue_all_to_all(stream, world, route_, dtype, stage, in_c(operands),
                       {elements_, elements_, block_rows_ * problem_.n});
    return;
  }
  std::byte* const received = at(operands.workspace, problem_.m * problem_.n + before_, dtype);
  enqueue_all_to_all(stream, world, route_, dtype, stage, received,
                     {elements_, elements_, elements_});
  enqueue_reorder(stream, received, operands);
}

}  // namespace overlaptune::run
