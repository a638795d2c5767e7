// `sequential`: the library's GEMM on all SMs, then (for all_gather_gemm: after) one collective.

#include "run/strategies.hpp"

namespace overlaptune::run {
namespace {

class SequentialPlan : public Plan {
 public:
  explicit SequentialPlan(Pieces pieces) : pieces_(std::move(pieces)) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    if (pieces_.exchanges_first()) pieces_.enqueue_exchange(stream, 0, operands);
    pieces_.enqueue_gemm(stream, 0, operands);
    if (!pieces_.exchanges_first()) pieces_.enqueue_exchange(stream, 0, operands);
  }

 private:
  Pieces pieces_;
};

}  // namespace

Expected<std::unique_ptr<Plan>> make_sequential(const Request& request) {
  const std::int64_t rows = request.problem.m / row_blocks(request.problem);
  Pieces pieces(request.engine, request.problem, request.route, 0, std::span(&rows, 1),
                request.mutant);
  if (auto chosen = pieces.choose(request.operands); !chosen) {
    return tl::make_unexpected(chosen.error());
  }
  return std::make_unique<SequentialPlan>(std::move(pieces));
}

}  // namespace overlaptune::run
