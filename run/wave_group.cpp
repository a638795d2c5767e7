#include "run/wave_group.hpp"

#include "kernels/exchange.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

std::byte* at(void* base, std::int64_t elements) {
  return static_cast<std::byte*>(base) + elements * kElementBytes;
}

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
      before_(begin.bytes.count / kElementBytes),
      block_rows_(order.block_rows) {}

/// Staged groups follow one another, each as [row block][region][row][column].
std::byte* WaveGroup::staged(const Operands& operands) const {
  return at(operands.workspace, before_);
}

void WaveGroup::add_segments(int counter, const Operands& operands,
                             std::vector<OwnSegment>& to) const {
  // Sums of whole rows are made in place.
  const bool in_place = contiguous_ && problem_.op == Op::gemm_all_reduce;
  std::int64_t offset = 0;
  for (const Region& region : regions_) {
    to.push_back({.region = region,
                  .counter = counter,
                  .c = in_place ? at(operands.c, region.first_row * problem_.n)
                                : staged(operands) + offset * kElementBytes,
                  .row_stride = region.columns,
                  .block_stride = elements_});
    offset += region.rows * region.columns;
  }
}

/// From [row block][region][row][column] to where they belong in C. (gemm_reduce_scatter: the one
/// block that this rank has.)
void WaveGroup::enqueue_reorder(cudaStream_t stream, const std::byte* from,
                                const Operands& operands) const {
  std::int64_t before = 0;
  for (const Region& region : regions_) {
    kernels::move(stream,
                  {.to = at(operands.c, region.first_row * problem_.n + region.first_column),
                   .from = from + before * kElementBytes,
                   .columns = region.columns,
                   .rows = region.rows,
                   .stride = problem_.n,
                   .blocks = problem_.op == Op::gemm_reduce_scatter ? 1 : blocks_,
                   .to_block = block_rows_ * problem_.n,
                   .from_block = elements_});
    OVT_CHECK(cudaGetLastError());
    before += region.rows * region.columns;
  }
}

CopyPiece WaveGroup::copy_piece(const Operands& operands) const {
  return {.send = staged(operands),
          .send_stride = elements_,
          .receive = at(operands.c, regions_.front().first_row * problem_.n),
          .stride = block_rows_ * problem_.n,
          .part = elements_};
}

void WaveGroup::enqueue_exchange(cudaStream_t stream, World& world,
                                 const Operands& operands) const {
  const std::int64_t all = elements_ * blocks_;
  std::byte* const stage = staged(operands);
  std::byte* const in_place = at(operands.c, regions_.front().first_row * problem_.n);
  switch (problem_.op) {
    case Op::gemm_all_reduce: {
      std::byte* const sums = contiguous_ ? in_place : stage;
      enqueue(stream, world, route_, Collective::all_reduce, problem_.dtype, sums, sums, all);
      if (!contiguous_) enqueue_reorder(stream, sums, operands);
      return;
    }
    case Op::gemm_reduce_scatter: {
      std::byte* const sums =
          contiguous_ ? in_place : stage + world.rank() * elements_ * kElementBytes;
      enqueue(stream, world, route_, Collective::reduce_scatter, problem_.dtype, stage, sums, all);
      if (!contiguous_) enqueue_reorder(stream, sums, operands);
      return;
    }
    case Op::gemm_all_to_all: {
      std::byte* const received = at(operands.workspace, problem_.m * problem_.n + before_);
      if (contiguous_) {
        enqueue_all_to_all(stream, world, route_, problem_.dtype, stage, in_place, elements_,
                           block_rows_ * problem_.n);
      } else {
        enqueue_all_to_all(stream, world, route_, problem_.dtype, stage, received, elements_,
                           elements_);
        enqueue_reorder(stream, received, operands);
      }
      return;
    }
    case Op::all_gather_gemm:
      return;  // no plan of that kind is made
  }
}

}  // namespace overlaptune::run
