#include "run/pieces.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

std::byte* at(void* base, std::int64_t elements) {
  return static_cast<std::byte*>(base) + elements * kElementBytes;
}
const std::byte* at(const void* base, std::int64_t elements) {
  return static_cast<const std::byte*>(base) + elements * kElementBytes;
}

}  // namespace

Pieces::Pieces(const Engine& engine, const Problem& problem, const CommKey& route, int gemm_sms,
               std::span<const std::int64_t> rows, Mutant mutant)
    : engine_(engine),
      problem_(problem),
      route_(route),
      gemm_sms_(gemm_sms),
      mutant_(mutant),
      blocks_(row_blocks(problem)),
      block_rows_(problem.m / blocks_) {
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    pieces_.push_back({first, count});
    first += count;
  }
}

/// Pieces of several row blocks are staged one after the other, each as [block][row][column].
std::byte* Pieces::staged(const Piece& piece, const Operands& operands) const {
  const std::int64_t columns = exchanges_first() ? problem_.k : problem_.n;
  return at(operands.workspace, piece.first * blocks_ * columns);
}

GemmShape Pieces::shape(const Piece& piece) const {
  GemmShape shape{.m = piece.rows * blocks_,
                  .n = problem_.n,
                  .k = problem_.k,
                  .dtype = problem_.dtype,
                  .sms = gemm_sms_};
  if (blocks_ > 1 && piece.rows < block_rows_) {
    shape.m = piece.rows;
    shape.batch = blocks_;
    shape.stride_a = (exchanges_first() ? piece.rows : block_rows_) * problem_.k;
    shape.stride_c = (exchanges_first() ? block_rows_ : piece.rows) * problem_.n;
  }
  if (mutant_ == Mutant::skipped_tile) shape.m -= std::min<std::int64_t>(64, shape.m - 1);
  if (mutant_ == Mutant::skipped_k_step && shape.k > 64) {
    shape.row_stride = shape.k;
    shape.k -= 64;
  }
  return shape;
}

GemmOperands Pieces::gemm_operands(const Piece& piece, const Operands& operands) const {
  if (exchanges_first()) {
    return {staged(piece, operands), operands.b, at(operands.c, piece.first * problem_.n)};
  }
  const void* a = at(operands.a, piece.first * problem_.k);
  const bool in_place = problem_.op == Op::gemm_all_reduce;
  return {a, operands.b,
          in_place ? at(operands.c, piece.first * problem_.n) : staged(piece, operands)};
}

Expected<void> Pieces::choose(std::span<const Operands> operands) {
  for (const Piece& piece : pieces_) {
    std::vector<GemmOperands> sets;
    for (const Operands& each : operands) sets.push_back(gemm_operands(piece, each));
    auto choice = engine_.library.choose(shape(piece), sets);
    if (!choice) return tl::make_unexpected(choice.error());
    choices_.push_back(*choice);
  }
  return {};
}

void Pieces::enqueue_gemm(cudaStream_t stream, std::size_t piece, const Operands& operands) const {
  engine_.library.enqueue(stream, shape(pieces_[piece]), choices_[piece],
                          gemm_operands(pieces_[piece], operands));
}

void Pieces::enqueue_exchange(cudaStream_t stream, std::size_t piece,
                              const Operands& operands) const {
  const Piece& rows = pieces_[piece];
  World& world = engine_.world;
  const std::int64_t n = problem_.n;
  switch (problem_.op) {
    case Op::gemm_all_reduce: {
      std::byte* part = at(operands.c, rows.first * n);
      enqueue(stream, world, route_, Collective::all_reduce, problem_.dtype, part, part,
              rows.rows * n);
      return;
    }
    case Op::gemm_reduce_scatter:
      enqueue(stream, world, route_, Collective::reduce_scatter, problem_.dtype,
              staged(rows, operands), at(operands.c, rows.first * n), rows.rows * blocks_ * n);
      return;
    case Op::all_gather_gemm:
      enqueue(stream, world, route_, Collective::all_gather, problem_.dtype,
              at(operands.a, rows.first * problem_.k), staged(rows, operands),
              rows.rows * blocks_ * problem_.k);
      return;
    case Op::gemm_all_to_all:
      // Received pieces lie apart: one in each source's row block.
      enqueue_all_to_all(stream, world, route_, problem_.dtype, staged(rows, operands),
                         at(operands.c, rows.first * n), rows.rows * n, block_rows_ * n);
      return;
  }
}

}  // namespace overlaptune::run
