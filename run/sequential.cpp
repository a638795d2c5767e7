// `sequential`: the library GEMM on all SMs, and one collective after it (all_gather_gemm: before
// it).

#include "run/pieces.hpp"

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
  // An algorithm for fewer SMs than there are is another one, also if it is told of all.
  const bool all = request.engine.world.options().free_sms == 0;
  auto pieces = Pieces::make(request, all ? kAllSms : request.engine.sms);
  if (!pieces) return error_of(pieces);
  return std::make_unique<SequentialPlan>(std::move(*pieces));
}

}  // namespace overlaptune::run
