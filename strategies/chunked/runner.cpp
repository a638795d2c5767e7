#include "strategies/chunked/runner.hpp"

#include "run/streams/fork.hpp"

namespace overlaptune::run {
namespace {

class ChunkedPlan : public Plan {
 public:
  ChunkedPlan(const Request& request, Pieces pieces)
      : pieces_(std::move(pieces)), mutant_(request.mutant), comm_(side_stream(request)) {
    for (std::size_t i = 0; i < pieces_.count(); ++i) ready_.push_back(make_event(false));
  }

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    const bool gather = pieces_.exchanges_first();
    const cudaStream_t first = gather ? comm_->get() : stream;
    const cudaStream_t second = gather ? stream : comm_->get();
    Fork beside = comm_->fork(stream);
    for (std::size_t i = 0; i < pieces_.count(); ++i) {
      enqueue(gather, first, i, operands);
      if (mutant_ != Mutant::missing_wait) {
        OVT_CHECK(cudaEventRecord(ready_[i].get(), first));
        OVT_CHECK(cudaStreamWaitEvent(second, ready_[i].get(), 0));
      }
      enqueue(!gather, second, i, operands);
    }
    beside.join();
  }

 private:
  void enqueue(bool exchange, cudaStream_t stream, std::size_t piece, const Operands& operands) {
    if (exchange) {
      pieces_.enqueue_exchange(stream, piece, operands);
    } else {
      pieces_.enqueue_gemm(stream, piece, operands);
    }
  }

  Pieces pieces_;
  Mutant mutant_;
  std::shared_ptr<SideStream> comm_;
  std::vector<Event> ready_{};
};

}  // namespace

Expected<std::unique_ptr<Plan>> RunnerOf<Chunked>::make(const Request& request) {
  const int left_to_collectives = request.work.config_as<Chunked>().comm_ctas;
  auto pieces = Pieces::make(request, request.engine.sms - left_to_collectives);
  if (!pieces) return error_of(pieces);
  return std::make_unique<ChunkedPlan>(request, std::move(*pieces));
}

}  // namespace overlaptune::run
