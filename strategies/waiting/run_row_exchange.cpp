#include "strategies/waiting/run_row_exchange.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "run/exchange/collective.hpp"
#include "run/exchange/copies.hpp"
#include "run/exchange/elements.hpp"
#include "run/exchange/peers.hpp"
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

/// Members that both ways to send rows share.
class RowsOfPeers : public RowExchange {
 public:
  RowsOfPeers(const Request& request, const CommKey& route)
      : world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        groups_(groups_of(request.work)),
        exclusive_(request.engine.exclusive),
        leaves_out_(request.mutant == Mutant::missing_signal) {}

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
  void count_groups(GeneratedRows& rows, const kernels::RankBarrier& barrier) const {
    const auto rank = static_cast<std::size_t>(world_.rank());
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      rows.arrivals[group].counter = barrier.flags[rank]->counters + group;
    }
  }

  World& world_;
  CommKey route_;
  Problem problem_;
  std::vector<ArrivingRows> groups_;
  bool exclusive_;
  bool leaves_out_;  ///< a plan that is wrong on purpose does not send the last group
};

/// Copy engines write the rows into the peers' workspaces, piece by piece. Behind each piece they
/// write the counter of its group, which the peer's gate has reset: no work behind the GEMM has to.
class RowsByCopies : public RowsOfPeers {
 public:
  RowsByCopies(const Request& request, const CommKey& route)
      : RowsOfPeers(request, route),
        block_rows_(request.work.tiled().order.block_rows),
        columns_(chunk_columns(problem_, request.work.config_as<Waiting>().k_chunks)) {}

  void describe(const Operands& operands, GeneratedOperands& gemm) const override {
    gemm.barrier = world_.barrier(route_);
    describe_scales(operands, gemm);
    if (columns_ < problem_.k) gemm.rows->chunk_columns = columns_;
    count_groups(*gemm.rows, gemm.barrier);
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

  /// Sends a chunk of the columns of a group, from `first` on, to the rank with these flags. Its
  /// counter counts chunks.
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
    told.write(flags.counters + group, static_cast<std::uint32_t>(first / columns_) + 1);
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
  std::int64_t columns_;        ///< of each chunk
  std::optional<Fork> fork_{};  ///< between `begin` and `finish`
  /// In a CUDA graph the branch that was captured first stays on the queue of the gate and of the
  /// work behind the plan. That should be the GEMM: to change queues takes some microseconds
  /// (docs/results/kernels.md, "Branches of a graph").
  bool sends_later_ = false;
};

/// The GEMM stores the rows into the peers' workspaces, beside its tiles.
class PushedByGemm : public RowsOfPeers {
 public:
  using RowsOfPeers::RowsOfPeers;

  void describe(const Operands& operands, GeneratedOperands& gemm) const override {
    gemm.barrier = world_.barrier(route_);
    gemm.has_barrier = exclusive_ && !gathers_scales();
    describe_scales(operands, gemm);
    GeneratedRows& rows = *gemm.rows;
    count_groups(rows, gemm.barrier);
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      rows.arrivals[group].sent = groups_[group];
    }
    rows.pushes = {.ctas = route_.ctas, .leaves_out_a_group = leaves_out_};
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
};

}  // namespace

std::int64_t gathered_scales_bytes(const Problem& problem) {
  const bool each = scales_of(problem.elements) == Scales::rows;
  return each ? problem.m * static_cast<std::int64_t>(sizeof(float)) : 0;
}

Expected<std::unique_ptr<RowExchange>> make_row_exchange(const Request& request) {
  const auto& config = request.work.config_as<Waiting>();
  const CommKey key = route(Collective::all_gather, request.work.problem().ranks, config.comm_ctas,
                            config.transport);
  if (auto made = ready(request, key); !made) return error_of(made);
  if (key.peers) return std::make_unique<PushedByGemm>(request, key);
  return std::make_unique<RowsByCopies>(request, key);
}

}  // namespace overlaptune::run
