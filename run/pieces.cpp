#include "run/pieces.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "run/collective.hpp"
#include "run/elements.hpp"

namespace overlaptune::run {

Pieces::Pieces(const Request& request, const CommKey& route, int gemm_sms)
    : engine_(request.engine),
      problem_(request.work.problem()),
      route_(route),
      gemm_sms_(gemm_sms),
      mutant_(request.mutant),
      blocks_(row_blocks(problem_)),
      block_rows_(problem_.m / blocks_) {
  std::int64_t first = 0;
  for (const std::int64_t count : request.work.chunked().rows) {
    pieces_.push_back({first, count});
    first += count;
  }
}

Expected<Pieces> Pieces::make(const Request& request, int gemm_sms) {
  const Work& work = request.work;
  const CommKey way = route(work.collective(), work.problem().ranks, comm_ctas(work.config()),
                            transport_of(work.config()));
  if (auto ready = make_ready(request.engine.world, way); !ready) return error_of(ready);
  Pieces pieces(request, way, gemm_sms);
  if (auto chosen = pieces.choose(request.operands); !chosen) return error_of(chosen);
  return pieces;
}

/// Pieces of several row blocks are staged one after the other, each as [block][row][column].
std::byte* Pieces::staged(const Piece& piece, const Operands& operands) const {
  return at(operands.workspace, piece.first * blocks_ * exchanged_columns(problem_),
            exchanged_dtype(problem_));
}

GemmShape Pieces::shape(const Piece& piece) const {
  GemmShape shape{.m = piece.rows * blocks_,
                  .n = problem_.n,
                  .k = problem_.k,
                  .elements = problem_.elements,
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
  const Dtype result = result_of(problem_.elements);
  if (exchanges_first()) {
    return {staged(piece, operands), operands.b, at(operands.c, piece.first * problem_.n, result)};
  }
  const void* a = at(operands.a, piece.first * problem_.k, operand_of(problem_.elements));
  return {a, operands.b,
          traits_of(problem_.op).in_place() ? at(operands.c, piece.first * problem_.n, result)
                                            : staged(piece, operands)};
}

Expected<void> Pieces::choose(std::span<const Operands> operands) {
  for (const Piece& piece : pieces_) {
    std::vector<GemmOperands> sets;
    for (const Operands& each : operands) sets.push_back(gemm_operands(piece, each));
    auto choice = engine_.library.choose(shape(piece), sets);
    if (!choice) return error_of(choice);
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
  const OpTraits& op = traits_of(problem_.op);
  World& world = engine_.world;
  const std::int64_t n = problem_.n;
  const Dtype moved = exchanged_dtype(problem_);
  std::byte* const stage = staged(rows, operands);
  std::byte* const part = at(operands.c, rows.first * n, result_of(problem_.elements));
  const std::int64_t count = rows.rows * blocks_ * exchanged_columns(problem_);
  if (op.exchanges_first) {
    enqueue(stream, world, route_, op.collective, moved,
            at(operands.a, rows.first * problem_.k, moved), stage, count);
  } else if (op.sums) {
    enqueue(stream, world, route_, op.collective, moved, op.in_place() ? part : stage, part, count);
  } else {
    // Received parts lie apart: each in the row block of its source.
    enqueue_all_to_all(stream, world, route_, moved, stage, part, rows.rows * n, block_rows_ * n);
  }
}

std::int64_t bytes_of_pieces(const Problem& problem) {
  return traits_of(problem.op).in_place() ? 0 : collective_bytes(problem).count;
}

}  // namespace overlaptune::run
