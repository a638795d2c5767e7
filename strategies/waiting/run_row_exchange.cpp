#include "strategies/waiting/run_row_exchange.hpp"

#include <algorithm>

#include "run/exchange/collective.hpp"
#include "run/exchange/copies.hpp"
#include "run/exchange/elements.hpp"
#include "run/exchange/peers.hpp"
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
        columns_(chunk_columns(problem_, request.work.config_as<Waiting>().k_chunks)),
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
  void describe_chunks(GeneratedRows& rows) const {
    if (columns_ < problem_.k) rows.chunk_columns = columns_;
  }

  World& world_;
  CommKey route_;
  Problem problem_;
  std::vector<ArrivingRows> groups_;
  std::int64_t columns_;  ///< of each chunk
  bool exclusive_;
  bool leaves_out_;  ///< a plan that is wrong on purpose does not send the last group
};

/// Copy engines write the rows into the peers' workspaces, piece by piece, each with a flag behind
/// it.
class RowsByCopies : public RowsOfPeers {
 public:
  RowsByCopies(const Request& request, const CommKey& route)
      : RowsOfPeers(request, route),
        block_rows_(request.work.tiled().order.block_rows),
        chunks_(sent_chunks(
            groups_.size() - (leaves_out_ ? 2 : 1), request.work.config_as<Waiting>().k_chunks,
            travels_chunk_by_chunk(request.work.tiled().order.tiles(),
                                   request.engine.sms - sms_of_exchange(request)))) {}

  void describe(const Operands& operands, GeneratedOperands& gemm) const override {
    gemm.barrier = world_.barrier(route_);
    describe_scales(operands, gemm);
    describe_chunks(*gemm.rows);
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      gemm.rows->arrivals[group].counter = flag(group);
    }
  }

  kernels::Before begin(cudaStream_t stream, const Operands& operands) override {
    // Also in an exclusive world: beside a GEMM that has all SMs a gate may find no place.
    enqueue_gate(stream, world_, route_, kernels::Counters::keep);
    copies_.emplace(world_, route_, stream, Copies::Begin::at_once);
    for (const SentChunk& sent : chunks_) {
      const int block = groups_[sent.group].block;
      const bool is_first = sent.chunk == 0 && block != groups_[sent.group - 1].block;
      if (is_first) copy_scales(operands, block);
      push(operands, sent);
    }
    return kernels::Before::work;
  }

  void drop() noexcept override { copies_.reset(); }

  void finish(cudaStream_t stream) override {
    copies_->finish_pushes();
    copies_.reset();
    // No peer raises them again before the gate of the next exchange.
    MemoryOperations all;
    for (std::size_t group = 1; group < groups_.size(); ++group) all.write(flag(group), 0);
    all.enqueue(stream);
  }

 private:
  /// The flag of a group counts its chunks.
  void push(const Operands& operands, const SentChunk& sent) {
    const ArrivingRows& rows = groups_[sent.group];
    const std::int64_t first = sent.chunk * columns_;
    const int rank = world_.rank();
    const Dtype operand = operand_of(problem_.elements);
    const std::int64_t first_row = rank * block_rows_ + rows.first_row;
    copies_->push((rank + rows.block) % problem_.ranks, static_cast<int>(sent.group),
                  {.to = at(operands.workspace, first_row * problem_.k + first, operand),
                   .from = at(operands.a, rows.first_row * problem_.k + first, operand),
                   .width = std::min(columns_, problem_.k - first) * bytes_of(operand),
                   .rows = rows.rows,
                   .pitch = problem_.k * bytes_of(operand)},
                  static_cast<std::uint32_t>(sent.chunk) + 1);
  }
  /// The scales of all rows travel before the first of these, whose flag tells of both.
  void copy_scales(const Operands& operands, int to_block) {
    if (!gathers_scales()) return;
    const int rank = world_.rank();
    copies_->copy_ahead((rank + to_block) % problem_.ranks, scales(operands) + rank * block_rows_,
                        operands.scales.a, block_rows_ * static_cast<std::int64_t>(sizeof(float)));
  }

  /// The group's rows come from the rank that is `block` ranks before this one.
  [[nodiscard]] std::uint32_t* flag(std::size_t group) const {
    const int source = (world_.rank() + problem_.ranks - groups_[group].block) % problem_.ranks;
    return Copies::arrived(world_, route_, static_cast<int>(group), source);
  }

  std::int64_t block_rows_;
  std::vector<SentChunk> chunks_;   ///< as they are sent
  std::optional<Copies> copies_{};  ///< between `begin` and `finish`
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
    describe_chunks(rows);
    const auto rank = static_cast<std::size_t>(world_.rank());
    for (std::size_t group = 1; group < groups_.size(); ++group) {
      rows.arrivals[group].counter = gemm.barrier.flags[rank]->counters + group;
      rows.arrivals[group].sent = groups_[group];
    }
    rows.pushes = {.ctas = route_.ctas, .leaves_out_a_group = leaves_out_};
    const std::ptrdiff_t offset = offset_in(world_, operands.workspace);
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      rows.pushes->gathered.push_back(world_.memory_of(route_, peer) + offset);
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

int sms_of_exchange(const Request& request) {
  constexpr int kSmsOfCopies = 8;
  const auto& config = request.work.config_as<Waiting>();
  const bool copies = config.transport == Transport::copy_engine;
  return copies && request.engine.world.shares_gpu() ? kSmsOfCopies : 0;
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
