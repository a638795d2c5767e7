#include "strategies/waiting/runner.hpp"

#include "run/gemm/generated_gemm.hpp"
#include "run/gemm/launches.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "strategies/waiting/run_row_exchange.hpp"

namespace overlaptune::run {
namespace {

/// SMs that the GEMM leaves to the exchange. Copy engines need none, except between ranks that
/// share a GPU: the driver copies within a GPU by a kernel, and the GEMM would wait for it forever.
int sms_of_exchange(const Request& request) {
  constexpr int kSmsOfCopies = 8;
  const auto& config = request.work.config_as<Waiting>();
  const bool copies = config.transport == Transport::copy_engine;
  return copies && request.engine.world.shares_gpu() ? kSmsOfCopies : 0;
}

class WaitingPlan : public Plan {
 public:
  WaitingPlan(const Request& request, const GeneratedGemm& gemm,
              std::unique_ptr<RowExchange> exchange)
      : gemm_(gemm),
        exchange_(std::move(exchange)),
        world_(request.engine.world),
        rank_(request.engine.world.rank()),
        problem_(request.work.problem()),
        order_(request.work.tiled().order),
        crew_({.sms = request.engine.sms - sms_of_exchange(request)}),
        mutant_(request.mutant),
        cuts_(request.work.tiled().cuts),
        launches_(request.operands, [this](const Operands& own) { return prepared(own); }) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    if (!takes_part()) return gemm_.enqueue(stream, launches_[operands], kernels::Before::work);
    try {
      const kernels::Before before = exchange_->begin(stream, operands);
      gemm_.enqueue(stream, launches_[operands], before);
      exchange_->finish(operands);
    } catch (...) {
      exchange_->drop();
      throw;
    }
  }

  /// Launches hold the addresses of signals, which lie behind the world's memory. They move even
  /// where the workspace gets its old address again.
  void forget_addresses() override { launches_.clear(); }

 private:
  [[nodiscard]] bool takes_part() const { return rank_ < problem_.ranks; }

  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    GeneratedRows rows{.own = operands.a, .own_block = rank_ % problem_.ranks};
    rows.own_scales = operands.scales.a;
    for (const Cut& cut : cuts_) rows.arrivals.push_back({.end = cut.tiles});
    const Region all{.end = order_.tiles(), .rows = order_.block_rows, .columns = problem_.n};
    GeneratedOperands own{
        .a = operands.workspace,
        .b = operands.b,
        .k = problem_.k,
        .scales = operands.scales,
        .segments = {{.region = all,
                      .c = operands.c,
                      .row_stride = problem_.n,
                      .block_stride = order_.block_rows * problem_.n}},
        .rows = std::move(rows),
        .barrier = world_.alone(),
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = mutant_ == Mutant::skipped_tile ? 1 : 0};
    if (takes_part()) exchange_->describe(operands, own);
    if (mutant_ == Mutant::missing_wait) {
      for (GeneratedRows::Arrival& arrival : own.rows->arrivals) arrival.counter = nullptr;
    }
    return gemm_.prepare(order_, crew_, own, nullptr);
  }

  const GeneratedGemm& gemm_;
  std::unique_ptr<RowExchange> exchange_;
  World& world_;
  int rank_;
  Problem problem_;
  TileOrder order_;
  Crew crew_;
  Mutant mutant_;
  std::vector<Cut> cuts_;
  Launches launches_;
};

}  // namespace

Expected<std::unique_ptr<Plan>> RunnerOf<Waiting>::make(const Request& request) {
  auto exchange = make_row_exchange(request);
  if (!exchange) return error_of(exchange);
  const auto gemm = request.engine.generated.gemm(request.work.tiled().kernel);
  if (!gemm) return error_of(gemm);
  return std::make_unique<WaitingPlan>(request, **gemm, std::move(*exchange));
}

/// The whole A, gathered, and behind it its scales, if each row has one.
std::int64_t RunnerOf<Waiting>::most_workspace_bytes(const Problem& problem) {
  return collective_bytes(problem).count + gathered_scales_bytes(problem);
}

}  // namespace overlaptune::run
