#pragma once
// A problem that is cut into pieces of rows. Each piece has a library GEMM and an exchange.
// `sequential` has one piece, `chunked` has several.

#include <vector>

#include "run/strategy_runner.hpp"

namespace overlaptune::run {

/// Rows `first .. first + rows` of every row block.
struct Piece {
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

class Pieces {
 public:
  /// Collective, but of a family alone. `gemm_sms`: SMs left to the GEMMs, or `kAllSms`. Error: as
  /// `make_ready`, or no algorithm for one of the GEMMs.
  [[nodiscard]] static Expected<Pieces> make(const Request& request, int gemm_sms);

  [[nodiscard]] std::size_t count() const { return pieces_.size(); }
  /// Whether the exchange of a piece comes before its GEMM.
  [[nodiscard]] bool exchanges_first() const { return traits_of(problem_.op).exchanges_first; }
  /// Whether each rank may have C at a place of its own (`Plan::places_c`).
  [[nodiscard]] bool places_c() const { return route_.peers && traits_of(problem_.op).in_place(); }

  void enqueue_gemm(cudaStream_t stream, std::size_t piece, const Operands& operands) const;
  void enqueue_exchange(cudaStream_t stream, std::size_t piece, const Operands& operands) const;

 private:
  Pieces(const Request& request, const CommKey& route, int gemm_sms);
  [[nodiscard]] Expected<void> choose(const Request& request);
  [[nodiscard]] GemmShape shape(const Piece& piece) const;
  [[nodiscard]] GemmOperands gemm_operands(const Piece& piece, const Operands& operands) const;
  [[nodiscard]] std::byte* staged(const Piece& piece, const Operands& operands) const;
  [[nodiscard]] float* staged_scales(const Piece& piece, const Operands& operands) const;
  [[nodiscard]] ScaleOperands scales(const Piece& piece, const Operands& operands) const;
  void enqueue_scales(cudaStream_t stream, const Piece& piece, const Operands& operands) const;

  Engine engine_;
  Problem problem_;
  CommKey route_;
  CommKey scales_route_;
  int gemm_sms_;
  Mutant mutant_;
  int blocks_;
  std::int64_t block_rows_;
  std::vector<Piece> pieces_{};
  std::vector<GemmChoice> choices_{};
};

/// Bytes of workspace of a plan made of pieces. They are staged where the op does not work in
/// place; behind them, scales of rows that are exchanged.
[[nodiscard]] std::int64_t bytes_of_pieces(const Problem& problem);

}  // namespace overlaptune::run
