#include "strategies/signaled/runner.hpp"

#include "run/gemm/launches.hpp"
#include "run/streams/fork.hpp"
#include "strategies/signaled/run_group_exchange.hpp"

namespace overlaptune::run {
namespace {

class SignaledPlan : public Plan {
 public:
  SignaledPlan(const Request& request, const GeneratedGemm& gemm,
               std::unique_ptr<GroupExchange> exchange)
      : gemm_(gemm),
        order_(request.work.tiled().order),
        problem_(request.work.problem()),
        crew_(crew_of(request)),
        mutant_(request.mutant),
        takes_part_(request.engine.world.rank() < problem_.ranks),
        exchange_(std::move(exchange)),
        cuts_(request.work.tiled().cuts),
        signals_(signals_of(cuts_)),
        comm_(side_stream(request)),
        launches_(request.operands, [this](const Operands& own) { return prepared(own); }) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    const kernels::Before before = exchange_->begin(stream, operands);
    if (!takes_part_) return gemm_.enqueue(stream, launches_[operands], before);
    // The fork comes before the GEMM, the GEMM before any wait for it. (A fork at an event of the
    // GEMM's begin would keep waits from its SMs. But where a kernel of cuBLAS came before in the
    // same CUDA graph, that event came with the GEMM's end: docs/results/kernels.md, "Begins".)
    Fork beside = comm_->fork(stream);
    gemm_.enqueue(stream, launches_[operands], before);
    exchange_->enqueue(comm_->get(), operands, signals_);
    beside.join();
  }

  [[nodiscard]] bool places_c() const override { return exchange_->places_c(); }

  /// Counters may lie in the world's memory.
  void forget_addresses() override {
    signals_ = signals_of(cuts_);
    launches_.clear();
  }

  void release(cudaStream_t aside) override {
    constexpr int kFar = 0x7f;  // every byte: more than any value that is waited for
    OVT_CHECK(cudaMemsetAsync(exchange_->counters(), kFar, signals_.size() * sizeof(std::uint32_t),
                              aside));
  }

 private:
  static Crew crew_of(const Request& request) {
    const auto& config = request.work.config_as<Signaled>();
    return {.sms = request.engine.sms,
            .leaving = config.is_persistent() ? config.comm_ctas : 0,
            .early = request.work.tiled().cuts.front().tiles,
            .persistent = config.is_persistent()};
  }

  /// The value of each group's counter when all its tiles are stored.
  [[nodiscard]] std::vector<std::optional<Signal>> signals_of(std::span<const Cut> cuts) const {
    std::vector<std::optional<Signal>> signals(cuts.size());
    if (mutant_ == Mutant::missing_wait) return signals;
    Cut before;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const bool last = i + 1 == cuts.size();
      const std::int64_t tiles = cuts[i].tiles - before.tiles - (last ? left_out_tiles() : 0);
      const std::int64_t missing = last && mutant_ == Mutant::missing_signal ? 1 : 0;
      signals[i] = {exchange_->counters() + i,
                    static_cast<std::uint32_t>(tiles * gemm_.signals_a_tile() + missing)};
      before = cuts[i];
    }
    return signals;
  }

  [[nodiscard]] std::int64_t left_out_tiles() const {
    return mutant_ == Mutant::skipped_tile ? 1 : 0;
  }

  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    const GeneratedOperands own{
        .a = operands.a,
        .b = operands.b,
        .k = problem_.k,
        .scales = operands.scales,
        .segments = exchange_->segments(operands),
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = left_out_tiles()};
    return gemm_.prepare(order_, crew_, own, exchange_->counters());
  }

  const GeneratedGemm& gemm_;
  TileOrder order_;
  Problem problem_;
  Crew crew_;
  Mutant mutant_;
  bool takes_part_;
  std::unique_ptr<GroupExchange> exchange_;
  std::vector<Cut> cuts_;
  std::vector<std::optional<Signal>> signals_;
  std::shared_ptr<SideStream> comm_;
  Launches launches_;
};

}  // namespace

Expected<std::unique_ptr<Plan>> RunnerOf<Signaled>::make(const Request& request) {
  auto exchange = make_group_exchange(request);
  if (!exchange) return error_of(exchange);
  const auto gemm = request.engine.generated.gemm(request.work.tiled().kernel);
  if (!gemm) return error_of(gemm);
  return std::make_unique<SignaledPlan>(request, **gemm, std::move(*exchange));
}

// Groups that NCCL moves may end within a row panel, so they are staged; in all_to_all they are
// also received in the workspace. With other transports all_reduce works in place, and the other
// collectives are staged.
std::int64_t RunnerOf<Signaled>::workspace_bytes(const Work& work) {
  if (is_nccls(work.config_as<Signaled>().transport.beside_gemm)) {
    return most_workspace_bytes(work.problem());
  }
  const std::int64_t bytes = collective_bytes(work.problem()).count;
  return traits_of(work.problem().op).in_place() ? 0 : bytes;
}

std::int64_t RunnerOf<Signaled>::most_workspace_bytes(const Problem& problem) {
  const std::int64_t bytes = collective_bytes(problem).count;
  return traits_of(problem.op).sums ? bytes : 2 * bytes;
}

}  // namespace overlaptune::run
