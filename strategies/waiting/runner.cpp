#include "strategies/waiting/runner.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "run/exchange/collective.hpp"
#include "run/exchange/copies.hpp"
#include "run/exchange/peers.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "run/gemm/launches.hpp"
#include "run/streams/captured_runs.hpp"
#include "run/streams/fork.hpp"
#include "run/streams/stream_wait.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::run {
namespace {

/// The rows of each wave group.
std::vector<ArrivingRows> groups_of(const Work& work) {
  const auto& config = work.config_as<Waiting>();
  return arriving_rows(arrival_order(work.problem(), config.tile, config.swizzle),
                       work.tiled().cuts);
}

/// Bytes of the scales of all rows, which are gathered behind A; 0 where rows have none of their
/// own.
std::int64_t gathered_scales_bytes(const Problem& problem) {
  const bool each = scales_of(problem.elements) == Scales::rows;
  return each ? problem.m * static_cast<std::int64_t>(sizeof(float)) : 0;
}

/// The exchange of the rows of A: each rank sends its rows to its peers, whose GEMMs wait for them
/// group by group. To add another way: write a class, and add a line in `make_row_exchange`.
class RowExchange {
 public:
  RowExchange(const Request& request, const CommKey& route)
      : world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        groups_(groups_of(request.work)),
        columns_(chunk_columns(problem_, request.work.config_as<Waiting>().k_chunks)),
        exclusive_(request.engine.exclusive),
        leaves_out_(request.mutant == Mutant::missing_signal) {}
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
  [[nodiscard]] bool gathers_scales() const { return gathered_scales_bytes(problem_) > 0; }
  [[nodiscard]] float* scales(const Operands& operands) const {
    return reinterpret_cast<float*>(
        at(operands.workspace, problem_.m * problem_.k, operand_of(problem_.elements)));
  }
  void describe_scales(const Operands& operands, GeneratedOperands& gemm) const {
    if (gathers_scales()) gemm.scales.a = scales(operands);
  }
  /// This rank's own rows are the first group, which waits for no counter.
  void describe_groups(GeneratedRows& rows, const kernels::RankBarrier& barrier) const {
    if (columns_ < problem_.k) rows.chunk_columns = columns_;
    const auto rank = static_cast<std::size_t>(world_.rank());
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      rows.arrivals[group].counter = barrier.flags[rank]->counters + group;
    }
  }

  World& world_;
  CommKey route_;
  Problem problem_;
  std::vector<ArrivingRows> groups_;
  std::int64_t columns_;  ///< of each chunk
  bool exclusive_;
  bool leaves_out_;  ///< a plan that is wrong on purpose does not send the last group
};

/// Copy engines write the rows into the peers' workspaces, piece by piece. Behind each piece they
/// write its counter, which the peer's gate has reset: no work behind the GEMM has to.
class RowsByCopies : public RowExchange {
 public:
  RowsByCopies(const Request& request, const CommKey& route)
      : RowExchange(request, route), block_rows_(request.work.tiled().order.block_rows) {}

  void describe(const Operands& operands, GeneratedOperands& gemm) const override {
    gemm.barrier = world_.barrier(route_);
    describe_scales(operands, gemm);
    describe_groups(*gemm.rows, gemm.barrier);
  }

  kernels::Before begin(cudaStream_t stream, const Operands& operands) override {
    // Also in an exclusive world: beside a GEMM that has all SMs a gate may find no place.
    enqueue_gate(stream, world_, route_, kernels::Counters::reset);
    const CopyLanes& lanes = world_.copy_lanes();
    fork_.emplace(stream, lanes.forked.get(),
                  std::initializer_list<Fork::Side>{{lanes.copies.get(), lanes.copied.get()}});
    sends_later_ = CapturedRuns::capture_of(stream) != 0;
    if (!sends_later_) send_all(operands);
    return kernels::Before::work;
  }

  void drop() noexcept override { fork_.reset(); }

  void finish(const Operands& operands) override {
    if (sends_later_) send_all(operands);
    fork_->join();
    fork_.reset();
  }

 private:
  void send_all(const Operands& operands) {
    const kernels::RankBarrier ranks = world_.barrier(route_);
    for (std::int64_t first = 0; first < problem_.k; first += columns_) {
      for (std::size_t group = 1; group + (leaves_out_ ? 1 : 0) < groups_.size(); ++group) {
        const int block = groups_[group].block;
        if (first == 0 && block != groups_[group - 1].block) send_scales(operands, block);
        send(operands, group, first, *ranks.flags[static_cast<std::size_t>(receiver(block))]);
      }
    }
  }

  /// Sends a chunk of the columns of a group, from `first` on, to the rank with these flags.
  void send(const Operands& operands, std::size_t group, std::int64_t first,
            kernels::RankFlags& flags) {
    const ArrivingRows& rows = groups_[group];
    const Dtype operand = operand_of(problem_.elements);
    const std::int64_t first_row = world_.rank() * block_rows_ + rows.first_row;
    const auto size = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes); };
    const std::size_t pitch = size(problem_.k * bytes_of(operand));
    const std::size_t width = size(std::min(columns_, problem_.k - first) * bytes_of(operand));
    void* const to = there(world_, route_, receiver(rows.block),
                           at(operands.workspace, first_row * problem_.k + first, operand));
    const void* const from = at(operands.a, rows.first_row * problem_.k + first, operand);
    if (width == pitch) {
      copy(lane(), to, from, rows.rows * problem_.k * bytes_of(operand));
    } else {
      OVT_CHECK(cudaMemcpy2DAsync(to, pitch, from, pitch, width, size(rows.rows),
                                  cudaMemcpyDeviceToDevice, lane()));
    }
    MemoryOperations told;
    const std::size_t chunk = size(first / columns_);
    told.write(flags.counters + chunk * groups_.size() + group, 1);
    told.enqueue(lane());
  }
  /// The scales of all rows travel before the first of these, whose counter tells of both.
  void send_scales(const Operands& operands, int block) {
    if (!gathers_scales()) return;
    copy(lane(),
         there(world_, route_, receiver(block), scales(operands) + world_.rank() * block_rows_),
         operands.scales.a, block_rows_ * static_cast<std::int64_t>(sizeof(float)));
  }

  [[nodiscard]] cudaStream_t lane() const { return world_.copy_lanes().copies.get(); }
  /// The rank to which this one is the `block`-th before it.
  [[nodiscard]] int receiver(int block) const { return (world_.rank() + block) % problem_.ranks; }

  std::int64_t block_rows_;
  std::optional<Fork> fork_{};  ///< between `begin` and `finish`
  /// In a CUDA graph the branch that was captured first stays on the queue of the gate and of the
  /// work behind the plan. That should be the GEMM: to change queues takes some microseconds
  /// (docs/results/kernels.md, "Branches of a graph").
  bool sends_later_ = false;
};

/// The GEMM stores the rows into the peers' workspaces: by items beside its tiles, or by its tiles.
class PushedByGemm : public RowExchange {
 public:
  PushedByGemm(const Request& request, const CommKey& route)
      : RowExchange(request, route), ctas_(request.work.config_as<Waiting>().comm_ctas) {}

  void describe(const Operands& operands, GeneratedOperands& gemm) const override {
    gemm.barrier = world_.barrier(route_);
    gemm.has_barrier = exclusive_ && !gathers_scales();
    describe_scales(operands, gemm);
    GeneratedRows& rows = *gemm.rows;
    describe_groups(rows, gemm.barrier);
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      rows.arrivals[group].sent = groups_[group];
    }
    rows.pushes = {.ctas = ctas_, .leaves_out_a_group = leaves_out_};
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      rows.pushes->gathered.push_back(there(world_, route_, peer, operands.workspace));
    }
  }

  kernels::Before begin(cudaStream_t stream, const Operands& operands) override {
    if (gathers_scales()) {  // behind a gate of its own
      enqueue(stream, world_, route_, Collective::all_gather, Dtype::bf16, operands.scales.a,
              scales(operands), 2 * problem_.m);
      return kernels::Before::work;
    }
    if (exclusive_) return kernels::Before::work;
    return enqueue_gate(stream, world_, route_, kernels::Counters::reset);
  }

 private:
  int ctas_;  ///< that push, or `kTilesPush`
};

/// Collective: makes the communicator. Error: as `make_ready`.
Expected<std::unique_ptr<RowExchange>> make_row_exchange(const Request& request) {
  const auto& config = request.work.config_as<Waiting>();
  const Problem& problem = request.work.problem();
  // Where tiles push, so many CTAs of a kernel still gather the scales.
  constexpr int kCtasOfScales = 2;
  const bool for_scales = tiles_push(config) && gathered_scales_bytes(problem) > 0;
  const CommKey key = route(Collective::all_gather, problem.ranks,
                            for_scales ? kCtasOfScales : config.comm_ctas, config.transport);
  if (auto made = ready(request, key); !made) return error_of(made);
  if (key.peers) return std::make_unique<PushedByGemm>(request, key);
  return std::make_unique<RowsByCopies>(request, key);
}

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
  [[nodiscard]] bool takes_part() const { return world_.rank() < problem_.ranks; }

  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    GeneratedRows rows{.own = operands.a, .own_block = world_.rank() % problem_.ranks};
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
