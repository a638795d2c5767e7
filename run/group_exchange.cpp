#include "run/group_exchange.hpp"

#include "run/peers.hpp"
#include "run/wave_group.hpp"

namespace overlaptune::run {
namespace {

/// Groups that are staged, or stored in place, and exchanged one by one.
class StagedGroups : public GroupExchange {
 public:
  StagedGroups(const Request& request, const TileOrder& order, std::span<const Cut> cuts)
      : world_(request.engine.world),
        route_(request.route),
        counters_(device_memory(cuts.size() * sizeof(std::uint32_t))) {
    Cut before;
    for (const Cut& cut : cuts) {
      const bool last = &cut == &cuts.back();
      groups_.emplace_back(request.problem, last ? request.last_route : request.route, order,
                           before, cut);
      before = cut;
    }
  }

  [[nodiscard]] std::uint32_t* counters() const override {
    return static_cast<std::uint32_t*>(counters_.get());
  }

  [[nodiscard]] std::vector<OwnSegment> segments(const Operands& operands) const override {
    std::vector<OwnSegment> all;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].add_segments(static_cast<int>(i), operands, all);
    }
    return all;
  }

 protected:
  World& world_;
  CommKey route_;
  std::vector<WaveGroup> groups_{};

 private:
  DeviceMemory counters_;
};

/// A collective of NCCL's for each group.
class CollectiveGroups : public StagedGroups {
 public:
  CollectiveGroups(const Request& request, const TileOrder& order, std::span<const Cut> cuts)
      : StagedGroups(request, order, cuts), wait_(request.config.wait) {}

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (signals[i]) wait_for_signal(stream, *signals[i], wait_);
      groups_[i].enqueue_exchange(stream, world_, operands);
    }
  }

 private:
  Wait wait_;
};

/// All groups as pieces of one exchange by copy engines, which wait for the signals themselves.
class CopiedGroups : public StagedGroups {
 public:
  using StagedGroups::StagedGroups;

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    Copies copies(world_, route_, stream);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      copies.enqueue(groups_[i].copy_piece(operands), signals[i]);
    }
    copies.finish(stream);
  }
};

/// One kernel of ours takes all groups from the peers' memory, and looks for the signals of all
/// ranks itself. Tiles are stored in the standard layout: in C for sums of all, else in a matrix of
/// what was computed.
class PeerGroups : public GroupExchange {
 public:
  PeerGroups(const Request& request, const TileOrder& order, std::span<const Cut> cuts)
      : world_(request.engine.world),
        route_(request.route),
        wait_(request.config.wait),
        problem_(request.problem),
        block_rows_(order.block_rows),
        takes_part_(world_.rank() < request.problem.ranks) {
    if (!takes_part_) counters_ = device_memory(cuts.size() * sizeof(std::uint32_t));
    Cut before;
    for (const Cut& cut : cuts) {
      groups_.push_back(regions(order, before, cut));
      before = cut;
    }
  }

  [[nodiscard]] std::uint32_t* counters() const override {
    return takes_part_ ? peer_counters(world_, route_)
                       : static_cast<std::uint32_t*>(counters_.get());
  }

  [[nodiscard]] std::vector<OwnSegment> segments(const Operands& operands) const override {
    std::vector<OwnSegment> all;
    auto* const first = static_cast<std::byte*>(matrix_of(operands));
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (const Region& region : groups_[i]) {
        const std::int64_t offset = region.first_row * problem_.n + region.first_column;
        all.push_back({.region = region,
                       .counter = static_cast<int>(i),
                       .c = first + offset * kElementBytes,
                       .row_stride = problem_.n,
                       .block_stride = block_rows_ * problem_.n});
      }
    }
    return all;
  }

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    // Not before the first group is there: until then the GEMM has all SMs.
    if (signals.front()) wait_for_signal(stream, *signals.front(), wait_);
    enqueue_peers(stream, world_, route_,
                  {.collective = collective_of(problem_.op),
                   .dtype = problem_.dtype,
                   .n = problem_.n,
                   .block_rows = block_rows_,
                   .matrix = matrix_of(operands),
                   .result = sums_all() ? nullptr : operands.c},
                  pieces(signals));
  }

 private:
  [[nodiscard]] bool sums_all() const { return problem_.op == Op::gemm_all_reduce; }

  [[nodiscard]] void* matrix_of(const Operands& operands) const {
    return sums_all() ? operands.c : operands.workspace;
  }

  [[nodiscard]] std::vector<kernels::PeerPiece> pieces(
      std::span<const std::optional<Signal>> signals) const {
    std::vector<kernels::PeerPiece> all;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (const Region& region : groups_[i]) {
        all.push_back({.first_row = static_cast<std::int32_t>(region.first_row),
                       .rows = static_cast<std::int32_t>(region.rows),
                       .first_column = static_cast<std::int32_t>(region.first_column),
                       .columns = static_cast<std::int32_t>(region.columns),
                       .counter = static_cast<std::int32_t>(i),
                       .value = signals[i] ? signals[i]->value : 0});
      }
    }
    return all;
  }

  World& world_;
  CommKey route_;
  Wait wait_;
  Problem problem_;
  std::int64_t block_rows_;
  bool takes_part_;
  DeviceMemory counters_{};  ///< of a rank that takes no part
  std::vector<std::vector<Region>> groups_{};
};

}  // namespace

std::unique_ptr<GroupExchange> make_group_exchange(const Request& request, const TileOrder& order,
                                                   std::span<const Cut> cuts) {
  if (request.route.copies) return std::make_unique<CopiedGroups>(request, order, cuts);
  if (request.route.peers) return std::make_unique<PeerGroups>(request, order, cuts);
  return std::make_unique<CollectiveGroups>(request, order, cuts);
}

}  // namespace overlaptune::run
