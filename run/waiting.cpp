// `waiting`: one generated GEMM on all SMs, which begins with this rank's own rows of A. On another
// stream, copy engines push this rank's rows into the workspaces of its peers, piece by piece, each
// with a flag behind it. Before the GEMM loads the first rows of a wave group it polls the group's
// flag. The copies are enqueued before the GEMM, and wait for nothing that comes after it: so they
// get on even where both streams share a hardware queue.

#include <algorithm>

#include "core/arrivals.hpp"
#include "run/collective.hpp"
#include "run/copies.hpp"
#include "run/elements.hpp"
#include "run/strategies.hpp"

namespace overlaptune::run {
namespace {

class WaitingPlan : public Plan {
 public:
  WaitingPlan(const Request& request, const GeneratedGemm& gemm, const CommKey& route)
      : gemm_(gemm),
        world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        order_(request.work.tiled().order),
        crew_({.sms = request.engine.sms}),
        mutant_(request.mutant),
        takes_part_(world_.rank() < problem_.ranks),
        cuts_(request.work.tiled().cuts) {
    const auto& config = request.work.config_as<Waiting>();
    rows_ = arriving_rows(arrival_order(problem_, config.tile, config.raster), cuts_);
  }

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    if (!takes_part_) return gemm_.enqueue(stream, prepared(operands));
    Copies copies(world_, route_, stream);
    push_rows(copies, operands);
    gemm_.enqueue(stream, prepared(operands));
    copies.finish_pushes(stream);
    // No peer raises them again before this rank says, in the next exchange, that it is ready.
    MemoryOperations reset;
    for (std::size_t group = 1; group < rows_.size(); ++group) reset.write(flag(group), 0);
    reset.enqueue(stream);
  }

  void release(cudaStream_t aside) override {
    if (!takes_part_) return;
    MemoryOperations raise;
    for (std::size_t group = 1; group < rows_.size(); ++group) raise.write(flag(group), 1);
    raise.enqueue(aside);
  }

 private:
  /// The rank whose rows the group has, on this rank.
  [[nodiscard]] int source(std::size_t group) const {
    return (world_.rank() + problem_.ranks - rows_[group].block) % problem_.ranks;
  }
  [[nodiscard]] std::uint32_t* flag(std::size_t group) const {
    return Copies::arrived(world_, route_, static_cast<int>(group), source(group));
  }

  void push_rows(Copies& copies, const Operands& operands) const {
    const std::int64_t k = problem_.k;
    const std::int64_t first_row = world_.rank() * order_.block_rows;
    for (std::size_t group = 1; group < rows_.size(); ++group) {
      const ArrivingRows& rows = rows_[group];
      if (mutant_ == Mutant::missing_signal && group + 1 == rows_.size()) continue;
      copies.push((world_.rank() + rows.block) % problem_.ranks, static_cast<int>(group),
                  at(operands.workspace, (first_row + rows.first_row) * k, problem_.dtype),
                  at(operands.a, rows.first_row * k, problem_.dtype),
                  rows.rows * k * bytes_of(problem_.dtype));
    }
  }

  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    GeneratedRows rows{.own = operands.a, .own_block = world_.rank() % problem_.ranks};
    for (std::size_t group = 0; group < rows_.size(); ++group) {
      const bool waits = takes_part_ && group > 0 && mutant_ != Mutant::missing_wait;
      rows.arrivals.push_back({cuts_[group].tiles, waits ? flag(group) : nullptr});
    }
    const Region all{.end = order_.tiles(), .rows = order_.block_rows, .columns = problem_.n};
    const GeneratedOperands own{
        .a = operands.workspace,
        .b = operands.b,
        .k = problem_.k,
        .segments = {{.region = all,
                      .c = operands.c,
                      .row_stride = problem_.n,
                      .block_stride = order_.block_rows * problem_.n}},
        .rows = std::move(rows),
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = mutant_ == Mutant::skipped_tile ? 1 : 0};
    return gemm_.prepare(order_, crew_, own, nullptr);
  }

  const GeneratedGemm& gemm_;
  World& world_;
  CommKey route_;
  Problem problem_;
  TileOrder order_;
  Crew crew_;
  Mutant mutant_;
  bool takes_part_;
  std::vector<Cut> cuts_;
  std::vector<ArrivingRows> rows_{};
};

}  // namespace

Expected<std::unique_ptr<Plan>> make_waiting(const Request& request) {
  const CommKey key = route(Collective::all_gather, request.work.problem().ranks, kAnySms,
                            request.work.config_as<Waiting>().transport);
  if (auto ready = make_ready(request.engine.world, key); !ready) return error_of(ready);
  const auto gemm = request.engine.generated.gemm(request.work.tiled().kernel);
  if (!gemm) return error_of(gemm);
  return std::make_unique<WaitingPlan>(request, **gemm, key);
}

std::int64_t workspace_of_arrivals(const Work& work) {
  return collective_bytes(work.problem()).count;
}

}  // namespace overlaptune::run
