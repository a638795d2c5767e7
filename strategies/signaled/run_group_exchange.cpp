#include "strategies/signaled/run_group_exchange.hpp"

#include <algorithm>

#include "kernels/exchange.hpp"
#include "run/check.hpp"
#include "run/exchange/collective.hpp"
#include "run/exchange/copies.hpp"
#include "run/exchange/peers.hpp"

namespace overlaptune::run {
namespace {

/// The routes of wave groups: for every group except the last one, and for the last one.
struct GroupRoutes {
  CommKey beside_gemm{};
  CommKey last{};
};

/// CTAs of the collectives beside the GEMM.
int ctas_beside_gemm(const Signaled& config) {
  // The part that stays on a rank is moved by the SMs that the GEMM leaves, and by all SMs after
  // the GEMM.
  if (config.transport.beside_gemm == Transport::copy_engine) return kAnySms;
  return config.is_persistent() ? config.comm_ctas : kNcclsChoice;
}

GroupRoutes routes_of(const Work& work) {
  const auto& config = work.config_as<Signaled>();
  const auto [beside_gemm, last] = config.transport;
  const int ranks = work.problem().ranks;
  GroupRoutes routes;
  routes.beside_gemm = route(work.collective(), ranks, ctas_beside_gemm(config), beside_gemm);
  routes.last = routes.beside_gemm;
  if (last != beside_gemm) routes.last = route(work.collective(), ranks, kNcclsChoice, last);
  return routes;
}

std::int64_t elements_of(const std::vector<Region>& regions) {
  std::int64_t count = 0;
  for (const Region& region : regions) count += region.rows * region.columns;
  return count;
}

/// A wave group that a collective or copy engines exchange: the memory into which its tiles store,
/// and the way from there into the result. Tiles that cannot be stored in place are staged.
class WaveGroup {
 public:
  /// The group of the tiles between two cuts. Between two contiguous cuts the rows are whole, and
  /// are received in place, without copies.
  WaveGroup(const Problem& problem, const CommKey& route, const TileOrder& order, const Cut& begin,
            const Cut& end)
      : problem_(problem),
        route_(route),
        regions_(regions(order, begin, end)),
        contiguous_(begin.contiguous && end.contiguous),
        blocks_(order.blocks),
        elements_(elements_of(regions_)),
        before_(begin.bytes.count / result_bytes(problem.elements)),
        block_rows_(order.block_rows) {}

  /// Appends one segment for each region, in the order of their tiles.
  void add_segments(int counter, const Operands& operands,
                    std::vector<GeneratedSegment>& to) const {
    // An all-reduce of whole rows works in place.
    const bool in_place = contiguous_ && traits_of(problem_.op).in_place();
    const Dtype dtype = result_of(problem_.elements);
    std::int64_t offset = 0;
    for (const Region& region : regions_) {
      to.push_back({.region = region,
                    .counter = counter,
                    .c = in_place ? at(operands.c, region.first_row * problem_.n, dtype)
                                  : at(staged(operands), offset, dtype),
                    .row_stride = region.columns,
                    .block_stride = elements_});
      offset += region.rows * region.columns;
    }
  }

  /// Enqueues the collective and, for a group that is not contiguous, the copies into place. Only
  /// ranks that take part call this.
  void enqueue_exchange(cudaStream_t stream, World& world, const Operands& operands) const {
    const OpTraits& op = traits_of(problem_.op);
    const Dtype dtype = result_of(problem_.elements);
    std::byte* const stage = staged(operands);
    if (op.sums) {
      std::byte* const own = op.c_is_block ? at(stage, world.rank() * elements_, dtype) : stage;
      std::byte* const sums = contiguous_ ? in_c(operands) : own;
      enqueue(stream, world, route_, op.collective, dtype, op.in_place() ? sums : stage, sums,
              elements_ * blocks_);
      if (!contiguous_) enqueue_reorder(stream, sums, operands);
      return;
    }
    if (contiguous_) {
      enqueue_all_to_all(stream, world, route_, dtype, stage, in_c(operands),
                         {elements_, elements_, block_rows_ * problem_.n});
      return;
    }
    std::byte* const received = at(operands.workspace, problem_.m * problem_.n + before_, dtype);
    enqueue_all_to_all(stream, world, route_, dtype, stage, received,
                       {elements_, elements_, elements_});
    enqueue_reorder(stream, received, operands);
  }

  /// The group as a piece of an exchange by copy engines. Only for contiguous groups.
  [[nodiscard]] CopyPiece copy_piece(const Operands& operands) const {
    const std::int64_t bytes = result_bytes(problem_.elements);
    return {.send = staged(operands),
            .send_stride = elements_ * bytes,
            .receive = in_c(operands),
            .stride = block_rows_ * problem_.n * bytes,
            .part = elements_ * bytes};
  }

 private:
  /// Staged groups follow one another, each as [row block][region][row][column].
  [[nodiscard]] std::byte* staged(const Operands& operands) const {
    return at(operands.workspace, before_, result_of(problem_.elements));
  }

  /// The first row of the group in C.
  [[nodiscard]] std::byte* in_c(const Operands& operands) const {
    return at(operands.c, regions_.front().first_row * problem_.n, result_of(problem_.elements));
  }

  /// Copies a group from [row block][region][row][column] into place in C, which may have only the
  /// block of this rank.
  void enqueue_reorder(cudaStream_t stream, const std::byte* from, const Operands& operands) const {
    const Dtype dtype = result_of(problem_.elements);
    const std::int64_t bytes = bytes_of(dtype);
    std::int64_t before = 0;
    for (const Region& region : regions_) {
      const std::int64_t first = region.first_row * problem_.n + region.first_column;
      OVT_CHECK(kernels::move(stream, {.to = at(operands.c, first, dtype),
                                       .from = at(from, before, dtype),
                                       .row_bytes = region.columns * bytes,
                                       .rows = region.rows,
                                       .stride = problem_.n * bytes,
                                       .blocks = traits_of(problem_.op).c_is_block ? 1 : blocks_,
                                       .to_block = block_rows_ * problem_.n * bytes,
                                       .from_block = elements_ * bytes}));
      before += region.rows * region.columns;
    }
  }

  Problem problem_;
  CommKey route_;
  std::vector<Region> regions_;
  bool contiguous_;
  int blocks_;             ///< row blocks
  std::int64_t elements_;  ///< elements of the group in one row block
  std::int64_t before_;    ///< elements of the earlier groups, in all row blocks
  std::int64_t block_rows_;
};

/// Groups that are staged, or stored in place, and exchanged one by one.
class StagedGroups : public GroupExchange {
 public:
  StagedGroups(const Request& request, const GroupRoutes& routes)
      : world_(request.engine.world),
        route_(routes.beside_gemm),
        counters_(group_counters(request, request.work.tiled().cuts.size())) {
    const TiledWork& tiled = request.work.tiled();
    Cut before;
    for (const Cut& cut : tiled.cuts) {
      const bool last = &cut == &tiled.cuts.back();
      groups_.emplace_back(request.work.problem(), last ? routes.last : routes.beside_gemm,
                           tiled.order, before, cut);
      before = cut;
    }
  }

  [[nodiscard]] std::uint32_t* counters() const override {
    return static_cast<std::uint32_t*>(counters_->get());
  }

  kernels::Before begin(cudaStream_t stream, const Operands& /*operands*/) override {
    OVT_CHECK(cudaMemsetAsync(counters(), 0, groups_.size() * sizeof(std::uint32_t), stream));
    return kernels::Before::work;
  }

  [[nodiscard]] std::vector<GeneratedSegment> segments(const Operands& operands) const override {
    std::vector<GeneratedSegment> all;
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
  std::shared_ptr<DeviceMemory> counters_;
};

/// An NCCL collective for each group.
class CollectiveGroups : public StagedGroups {
 public:
  CollectiveGroups(const Request& request, const GroupRoutes& routes)
      : StagedGroups(request, routes), wait_(request.work.config_as<Signaled>().wait) {}

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (signals[i]) wait_for_signal(stream, world_.alone(), *signals[i], wait_);
      groups_[i].enqueue_exchange(stream, world_, operands);
    }
  }

 private:
  Wait wait_;
};

/// All groups as the pieces of one exchange by copy engines, which itself waits for the signals.
class CopiedGroups : public StagedGroups {
 public:
  CopiedGroups(const Request& request, const GroupRoutes& routes)
      : StagedGroups(request, routes),
        gate_first_(!request.engine.exclusive && world_.rank() < route_.ranks) {}

  kernels::Before begin(cudaStream_t stream, const Operands& operands) override {
    const kernels::Before before = StagedGroups::begin(stream, operands);
    if (!gate_first_) return before;
    return enqueue_gate(stream, world_, route_, kernels::Counters::keep);
  }

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    Copies copies(world_, route_, stream,
                  gate_first_ ? Copies::Begin::at_once : Copies::Begin::gate);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      copies.enqueue(groups_[i].copy_piece(operands), signals[i]);
    }
    copies.finish(stream);
  }

 private:
  bool gate_first_;
};

/// One overlaptune kernel exchanges all groups through the peers' memory, and polls the signals of
/// all ranks itself. Tiles are stored in the standard layout: for gemm_all_reduce in C, for other
/// ops in a matrix in the workspace.
class PeerGroups : public GroupExchange {
 public:
  PeerGroups(const Request& request, const GroupRoutes& routes)
      : world_(request.engine.world),
        route_(routes.beside_gemm),
        wait_(request.work.config_as<Signaled>().wait),
        problem_(request.work.problem()),
        block_rows_(request.work.tiled().order.block_rows),
        takes_part_(world_.rank() < problem_.ranks),
        gate_first_(!request.engine.exclusive && takes_part_) {
    const TiledWork& tiled = request.work.tiled();
    if (!takes_part_) counters_ = device_memory(tiled.cuts.size() * sizeof(std::uint32_t));
    Cut before;
    for (const Cut& cut : tiled.cuts) {
      groups_.push_back(regions(tiled.order, before, cut));
      before = cut;
    }
  }

  [[nodiscard]] std::uint32_t* counters() const override {
    if (!takes_part_) return static_cast<std::uint32_t*>(counters_.get());
    return world_.barrier(route_).flags[static_cast<std::size_t>(world_.rank())]->counters;
  }

  [[nodiscard]] bool places_c() const override { return sums_all(); }

  kernels::Before begin(cudaStream_t stream, const Operands& operands) override {
    if (gate_first_) {
      return enqueue_gate(stream, world_, route_, kernels::Counters::reset, matrix_of(operands));
    }
    // Peers count in these flags only behind the gate of this run.
    const std::size_t flags = takes_part_ ? kernels::RankFlags::kCounted : groups_.size();
    OVT_CHECK(cudaMemsetAsync(counters(), 0, flags * sizeof(std::uint32_t), stream));
    return kernels::Before::work;
  }

  [[nodiscard]] std::vector<GeneratedSegment> segments(const Operands& operands) const override {
    std::vector<GeneratedSegment> all;
    void* const matrix = matrix_of(operands);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (const Region& region : groups_[i]) {
        const std::int64_t offset = region.first_row * problem_.n + region.first_column;
        all.push_back({.region = region,
                       .counter = static_cast<int>(i),
                       .c = at(matrix, offset, result_of(problem_.elements)),
                       .row_stride = problem_.n,
                       .block_stride = block_rows_ * problem_.n});
      }
    }
    return all;
  }

  void enqueue(cudaStream_t stream, const Operands& operands,
               std::span<const std::optional<Signal>> signals) override {
    // The kernel starts after the first group's signal: until then the GEMM has all SMs.
    if (signals.front()) wait_for_signal(stream, world_.alone(), *signals.front(), wait_);
    if (!gate_first_) {
      enqueue_gate(stream, world_, route_, kernels::Counters::keep, matrix_of(operands));
    }
    enqueue_peers(stream, world_, route_,
                  {.collective = collective_of(problem_.op),
                   .dtype = result_of(problem_.elements),
                   .n = problem_.n,
                   .block_rows = block_rows_,
                   .matrix = matrix_of(operands),
                   .result = sums_all() ? nullptr : operands.c},
                  pieces(signals));
  }

 private:
  [[nodiscard]] bool sums_all() const { return traits_of(problem_.op).in_place(); }

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
  bool gate_first_;
  DeviceMemory counters_{};  ///< for a rank that takes no part
  std::vector<std::vector<Region>> groups_{};
};

}  // namespace

Expected<std::unique_ptr<GroupExchange>> make_group_exchange(const Request& request) {
  const GroupRoutes routes = routes_of(request.work);
  for (const CommKey& key : {routes.beside_gemm, routes.last}) {
    if (auto made = ready(request, key); !made) return error_of(made);
  }
  if (routes.beside_gemm.copies) return std::make_unique<CopiedGroups>(request, routes);
  if (routes.beside_gemm.peers) return std::make_unique<PeerGroups>(request, routes);
  return std::make_unique<CollectiveGroups>(request, routes);
}

}  // namespace overlaptune::run
