#include "run/exchange/pieces.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "run/exchange/collective.hpp"

namespace overlaptune::run {

namespace {

/// Whether rows of A and their scales come from other ranks.
bool scales_travel(const Problem& problem) {
  return scales_of(problem.elements) == Scales::rows && traits_of(problem.op).exchanges_first;
}

/// The route of these scales: that of the rows, unless it reads what is sent from the world's
/// memory.
CommKey route_of_scales(const Problem& problem, const CommKey& rows) {
  const Collective collective = traits_of(problem.op).collective;
  if (collective == Collective::all_gather) return rows;
  return route(collective, problem.ranks, kNcclsChoice, Transport::ring);
}

}  // namespace

Pieces::Pieces(const Request& request, const CommKey& route, int gemm_sms)
    : engine_(request.engine),
      problem_(request.work.problem()),
      route_(route),
      scales_route_(route_of_scales(problem_, route)),
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
  if (auto made = ready(request, way); !made) return error_of(made);
  Pieces pieces(request, way, gemm_sms);
  if (scales_travel(work.problem())) {
    if (auto made = ready(request, pieces.scales_route_); !made) return error_of(made);
  }
  if (auto chosen = pieces.choose(request); !chosen) return error_of(chosen);
  return pieces;
}

/// Pieces of several row blocks are staged one after the other, each as [block][row][column].
std::byte* Pieces::staged(const Piece& piece, const Operands& operands) const {
  return at(operands.workspace, piece.first * blocks_ * exchanged_columns(problem_),
            exchanged_dtype(problem_));
}

float* Pieces::staged_scales(const Piece& piece, const Operands& operands) const {
  std::byte* const behind =
      at(operands.workspace, problem_.m * exchanged_columns(problem_), exchanged_dtype(problem_));
  return reinterpret_cast<float*>(behind) + piece.first * blocks_;
}

ScaleOperands Pieces::scales(const Piece& piece, const Operands& operands) const {
  if (scales_of(problem_.elements) != Scales::rows) return operands.scales;
  return {exchanges_first() ? staged_scales(piece, operands) : operands.scales.a + piece.first,
          operands.scales.b};
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
    return {staged(piece, operands), operands.b, at(operands.c, piece.first * problem_.n, result),
            scales(piece, operands)};
  }
  const void* a = at(operands.a, piece.first * problem_.k, operand_of(problem_.elements));
  return {a, operands.b,
          traits_of(problem_.op).in_place() ? at(operands.c, piece.first * problem_.n, result)
                                            : staged(piece, operands),
          scales(piece, operands)};
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

/// The scales of a piece's rows, four bytes each, as pairs of 16 bits.
void Pieces::enqueue_scales(cudaStream_t stream, const Piece& piece,
                            const Operands& operands) const {
  World& world = engine_.world;
  const float* const send = operands.scales.a + piece.first;
  float* const receive = staged_scales(piece, operands);
  const std::int64_t part = 2 * piece.rows;
  if (traits_of(problem_.op).collective == Collective::all_gather) {
    return enqueue(stream, world, scales_route_, Collective::all_gather, Dtype::bf16, send, receive,
                   part * blocks_);
  }
  enqueue_all_to_all(stream, world, scales_route_, Dtype::bf16, send, receive,
                     {.count = part, .send_stride = 2 * block_rows_, .receive_stride = part});
}

void Pieces::enqueue_exchange(cudaStream_t stream, std::size_t piece,
                              const Operands& operands) const {
  const Piece& rows = pieces_[piece];
  if (scales_travel(problem_)) enqueue_scales(stream, rows, operands);
  const OpTraits& op = traits_of(problem_.op);
  World& world = engine_.world;
  const Dtype moved = exchanged_dtype(problem_);
  const std::int64_t columns = exchanged_columns(problem_);
  const std::int64_t first = rows.first * columns;
  std::byte* const stage = staged(rows, operands);
  // From A into the stage, or from there into C.
  std::byte* const receive = op.exchanges_first ? stage : at(operands.c, first, moved);
  const void* const send = op.exchanges_first ? at(operands.a, first, moved)
                           : op.in_place()    ? at(operands.c, first, moved)
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

std::int64_t bytes_of_pieces(const Problem& problem) {
  if (traits_of(problem.op).in_place()) return 0;
  const std::int64_t scales =
      scales_travel(problem) ? problem.m * static_cast<std::int64_t>(sizeof(float)) : 0;
  return collective_bytes(problem).count + scales;
}

}  // namespace overlaptune::run
