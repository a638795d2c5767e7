#include "run/row_exchange.hpp"

#include "core/arrivals.hpp"
#include "run/collective.hpp"
#include "run/copies.hpp"
#include "run/elements.hpp"
#include "run/peers.hpp"

namespace overlaptune::run {
namespace {

/// The rows of each wave group.
std::vector<ArrivingRows> groups_of(const Work& work) {
  const auto& config = work.config_as<Waiting>();
  return arriving_rows(arrival_order(work.problem(), config.tile, config.raster),
                       work.tiled().cuts);
}

/// The number of groups whose rows are sent: a plan that is wrong on purpose leaves the last out.
std::size_t sent_groups(const Request& request, std::size_t groups) {
  return request.mutant == Mutant::missing_signal ? groups - 1 : groups;
}

/// Copy engines write the rows into the peers' workspaces, piece by piece, each with a flag behind
/// it.
class CopiedRows : public RowExchange {
 public:
  CopiedRows(const Request& request, const CommKey& route)
      : world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        block_rows_(request.work.tiled().order.block_rows),
        groups_(groups_of(request.work)),
        sent_(sent_groups(request, groups_.size())) {}

  [[nodiscard]] Signal signal(std::size_t group) const override { return {flag(group), 1}; }

  void begin(cudaStream_t stream, const Operands& operands) override {
    copies_.emplace(world_, route_, stream);
    const int rank = world_.rank();
    for (std::size_t group = 1; group < sent_; ++group) {
      const ArrivingRows& rows = groups_[group];
      const std::int64_t first_row = rank * block_rows_ + rows.first_row;
      copies_->push((rank + rows.block) % problem_.ranks, static_cast<int>(group),
                    at(operands.workspace, first_row * problem_.k, problem_.dtype),
                    at(operands.a, rows.first_row * problem_.k, problem_.dtype),
                    rows.rows * problem_.k * bytes_of(problem_.dtype));
    }
  }

  void finish(cudaStream_t stream) override {
    copies_->finish_pushes(stream);
    copies_.reset();
    // No peer raises them again before this rank says, in the next exchange, that it is ready.
    write_flags(stream, 0);
  }

  void release(cudaStream_t aside) override { write_flags(aside, 1); }

  void lower_signals(cudaStream_t stream) override { write_flags(stream, 0); }

 private:
  /// The group's rows come from the rank that is `block` ranks before this one.
  [[nodiscard]] std::uint32_t* flag(std::size_t group) const {
    const int source = (world_.rank() + problem_.ranks - groups_[group].block) % problem_.ranks;
    return Copies::arrived(world_, route_, static_cast<int>(group), source);
  }

  void write_flags(cudaStream_t stream, std::uint32_t value) const {
    MemoryOperations all;
    for (std::size_t group = 1; group < groups_.size(); ++group) all.write(flag(group), value);
    all.enqueue(stream);
  }

  World& world_;
  CommKey route_;
  Problem problem_;
  std::int64_t block_rows_;
  std::vector<ArrivingRows> groups_;
  std::size_t sent_;
  std::optional<Copies> copies_{};  ///< between `begin` and `finish`
};

/// The CTAs of one kernel store the rows into the peers' workspaces. The GEMM leaves SMs to them.
class PushedByPeers : public RowExchange {
 public:
  PushedByPeers(const Request& request, const CommKey& route)
      : world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        block_rows_(request.work.tiled().order.block_rows),
        comm_(make_stream(Priority::high)),
        fork_(make_event(false)),
        join_(make_event(false)) {
    const std::vector<ArrivingRows> groups = groups_of(request.work);
    for (std::size_t group = 1; group < sent_groups(request, groups.size()); ++group) {
      pieces_.push_back({.first_row = static_cast<std::int32_t>(groups[group].first_row),
                         .rows = static_cast<std::int32_t>(groups[group].rows),
                         .turn = groups[group].block,
                         .counter = static_cast<std::int32_t>(group)});
    }
  }

  [[nodiscard]] Signal signal(std::size_t group) const override {
    return {peer_counters(world_, route_) + group, static_cast<std::uint32_t>(route_.ctas)};
  }

  void begin(cudaStream_t stream, const Operands& operands) override {
    set_counters(stream, 0);
    OVT_CHECK(cudaEventRecord(fork_.get(), stream));
    OVT_CHECK(cudaStreamWaitEvent(comm_.get(), fork_.get(), 0));
    push_to_peers(comm_.get(), world_, route_,
                  {.row_bytes = problem_.k * bytes_of(problem_.dtype),
                   .block_rows = block_rows_,
                   .source = operands.a,
                   .matrix = operands.workspace},
                  pieces_);
  }

  void finish(cudaStream_t stream) override {
    OVT_CHECK(cudaEventRecord(join_.get(), comm_.get()));
    OVT_CHECK(cudaStreamWaitEvent(stream, join_.get(), 0));
  }

  void release(cudaStream_t aside) override {
    constexpr int kFar = 0x7f;  // more than any value that is waited for
    set_counters(aside, kFar);
  }

 private:
  void set_counters(cudaStream_t stream, int every_byte) const {
    OVT_CHECK(cudaMemsetAsync(peer_counters(world_, route_), every_byte,
                              kernels::PeerWords::kCounters * sizeof(std::uint32_t), stream));
  }

  World& world_;
  CommKey route_;
  Problem problem_;
  std::int64_t block_rows_;
  std::vector<kernels::PushedRows> pieces_{};
  Stream comm_;
  Event fork_;
  Event join_;
};

}  // namespace

Expected<std::unique_ptr<RowExchange>> make_row_exchange(const Request& request) {
  const auto& config = request.work.config_as<Waiting>();
  const CommKey key = route(Collective::all_gather, request.work.problem().ranks, config.comm_ctas,
                            config.transport);
  if (auto ready = make_ready(request.engine.world, key); !ready) return error_of(ready);
  if (key.peers) return std::make_unique<PushedByPeers>(request, key);
  return std::make_unique<CopiedRows>(request, key);
}

std::int64_t workspace_of_rows(const Work& work) {
  return collective_bytes(work.problem()).count;
}

}  // namespace overlaptune::run
