#pragma once
// The exchange of the rows of A for `waiting`: each rank sends its rows to its peers, whose GEMMs
// wait for them group by group. Copy engines send them beside the GEMM, or the GEMM itself does. To
// add another way: write a class in run_row_exchange.cpp, and add a line in `make_row_exchange`.

#include <memory>
#include <optional>

#include "run/gemm/generated_gemm.hpp"
#include "run/strategy_runner.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::run {

class RowExchange {
 public:
  virtual ~RowExchange() = default;
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;

  /// Describes the exchange to the GEMM: its ranks, the signals of the groups that arrive (number 1
  /// and later of `rows.arrivals`), and the rows that the GEMM sends.
  virtual void describe(const Operands& operands, GeneratedOperands& gemm) const = 0;

  /// Enqueues the gate, unless nothing else waits for ranks, and what runs beside the GEMM. It
  /// waits for nothing that is enqueued later: so it gets on even where the GEMM, enqueued after
  /// it, is on the same hardware queue. What is captured may come in `finish`: copy engines and the
  /// writes behind them need no SM, and a graph is launched as a whole. Returns what the GEMM's
  /// launch is told.
  virtual kernels::Before begin(cudaStream_t stream, const Operands& operands) = 0;
  /// Work that is enqueued on the stream of `begin` after this call may overwrite A and the
  /// gathered rows.
  virtual void finish(const Operands& /*operands*/) {}
  /// In place of `finish`, if an error ends the run before: joins the stream of `begin`.
  virtual void drop() noexcept {}

 protected:
  RowExchange() = default;
};

/// Bytes of the scales of all rows, which are gathered behind A; 0 where rows have none of their
/// own.
[[nodiscard]] std::int64_t gathered_scales_bytes(const Problem& problem);

/// Collective: makes the communicator. Error: as `make_ready`.
[[nodiscard]] Expected<std::unique_ptr<RowExchange>> make_row_exchange(const Request& request);

}  // namespace overlaptune::run
