#include "run/exchange/pieces.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "run/exchange/collective.hpp"
#include "run/exchange/elements.hpp"
#include "run/memory/exchanged_memory.hpp"

namespace overlaptune::run {

Pieces::Pieces(const Request& request, const CommKey& route, int gemm_sms)
    : engine_(request.engine),
      problem_(request.work.problem()),
      route_(route),
      gemm_sms_(gemm_sms),
      mutant_(request.mutant),
      adds_up_in_c_(adds_up_in_c(problem_, transport_of(request.work.config()))),
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
  if (auto made = ready(request, way); !made) return error_of(made);
  Pieces pieces(request, way, gemm_sms);
  if (auto chosen = pieces.choose(request); !chosen) return error_of(chosen);
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
  return {
      a, operands.b,
      adds_up_in_c_ ? at(operands.c, piece.first * problem_.n, result) : staged(piece, operands)};
}

Expected<void> Pieces::choose(const Request& request) {
  for (const Piece& piece : pieces_) {
    if (request.family) {
      auto known = engine_.library.nearest(shape(piece));
      if (!known) return error_of(known);
      choices_.push_back(*known);
      continue;
    }
    std::vector<GemmOperands> sets;
    for (const Operands& each : request.operands) sets.push_back(gemm_operands(piece, each));
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
  const Dtype moved = exchanged_dtype(problem_);
  const std::int64_t columns = exchanged_columns(problem_);
  const std::int64_t first = rows.first * columns;
  std::byte* const stage = staged(rows, operands);
  // From A into the stage, or from there into C.
  std::byte* const receive = op.exchanges_first ? stage : at(operands.c, first, moved);
  const void* const send = op.exchanges_first ? at(operands.a, first, moved)
                           : adds_up_in_c_    ? receive
                                              : stage;
  const std::int64_t part = rows.rows * columns;
  if (op.collective != Collective::all_to_all) {
    enqueue(stream, world, route_, op.collective, moved, send, receive, part * blocks_);
    return;
  }
  // Parts lie one after the other in the stage, and apart in A and C: each in its row block.
  const std::int64_t apart = block_rows_ * columns;
  enqueue_all_to_all(stream, world, route_, moved, send, receive,
                     {.count = part,
                      .send_stride = op.exchanges_first ? apart : part,
                      .receive_stride = op.exchanges_first ? part : apart});
}

std::int64_t bytes_of_pieces(const Problem& problem, Transport transport) {
  return adds_up_in_c(problem, transport) ? 0 : collective_bytes(problem).count;
}

}  // namespace overlaptune::run
