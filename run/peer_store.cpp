// `peer_store`: one generated GEMM on all SMs, which stores each tile at the rank that owns it
// (core/store_order.hpp, kernels/device/at_ranks.cuh). There is a gate in front of it, and no
// collective.

#include "run/peer_store.hpp"

#include <algorithm>

#include "core/gpu.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/collective.hpp"
#include "run/elements.hpp"
#include "run/generated_gemm.hpp"
#include "run/launches.hpp"
#include "run/peers.hpp"
#include "run/strategies.hpp"
#include "run/stream_wait.hpp"

namespace overlaptune::run {
namespace {

StoreOrder order_of(const Work& work) {
  return store_order(work.problem(), work.tiled().order, work.tiled().cuts);
}

class PeerStorePlan : public Plan {
 public:
  PeerStorePlan(const Request& request, const GeneratedGemm& gemm, const CommKey& route)
      : gemm_(gemm),
        world_(request.engine.world),
        route_(route),
        problem_(request.work.problem()),
        order_(request.work.tiled().order),
        stored_(order_of(request.work)),
        crew_({.sms = request.engine.sms}),
        exclusive_(request.engine.exclusive),
        mutant_(request.mutant),
        launches_(request.operands, [this](const Operands& own) { return prepared(own); }) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    if (world_.rank() >= problem_.ranks) return;
    const auto before = exclusive_ ? kernels::Before::work
                                   : enqueue_gate(stream, world_, route_, kernels::Counters::reset);
    gemm_.enqueue(stream, launches_[operands], before);
  }

  void forget_addresses() override { launches_.clear(); }

 private:
  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    if (world_.rank() >= problem_.ranks) return {};
    const GeneratedOperands own{
        .a = operands.a,
        .b = operands.b,
        .k = problem_.k,
        .stores = stores(operands),
        .meeting = world_.meeting(route_),
        .meets = exclusive_,
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = left_out_tiles()};
    return gemm_.prepare(order_, crew_, own, nullptr);
  }

  [[nodiscard]] std::int64_t left_out_tiles() const {
    return mutant_ == Mutant::skipped_tile ? 1 : 0;
  }

  [[nodiscard]] GeneratedStores stores(const Operands& operands) const {
    std::vector<GeneratedStores::Peer> peers;
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      const bool has_slots = bytes_of_slots(problem_, stored_) > 0;
      peers.push_back({.slots = has_slots ? there(peer, operands.workspace) : nullptr,
                       .c = rows_at(peer, operands)});
    }
    const int signals = gemm_.signals_a_tile();
    GeneratedStores made = stores_of(problem_, stored_, world_.rank(), std::move(peers), signals);
    spoil(made);
    return made;
  }

  /// Makes the waits of a plan that is wrong on purpose.
  void spoil(GeneratedStores& stores) const {
    if (mutant_ == Mutant::missing_wait) {
      for (GeneratedStores::Group& group : stores.groups) group.arrivals = 0;
      stores.done = 0;
    }
    if (mutant_ == Mutant::missing_signal) {  // one more than ever comes, for each group or C
      for (GeneratedStores::Group& group : stores.groups) group.arrivals += stores.adds ? 1 : 0;
      stores.done += stores.adds ? 0 : 1;
    }
    if (mutant_ == Mutant::skipped_tile && !stores.owns_blocks) {
      // The last tile of every peer is one that it owns.
      stores.done -= static_cast<std::uint32_t>((problem_.ranks - 1) * gemm_.signals_a_tile());
    }
  }

  /// The rows of C that this rank's tiles fill at a rank.
  [[nodiscard]] void* rows_at(int peer, const Operands& operands) const {
    const OpTraits& op = traits_of(problem_.op);
    if (op.c_is_block) return peer == world_.rank() ? operands.c : nullptr;
    if (op.in_place()) return there(peer, operands.c);
    return at(there(peer, operands.c), world_.rank() * order_.block_rows * problem_.n,
              result_of(problem_.elements));
  }

  /// The address at a rank that corresponds to `here`.
  [[nodiscard]] void* there(int peer, void* here) const {
    return world_.memory_of(route_, peer) + offset_in(world_, here);
  }

  const GeneratedGemm& gemm_;
  World& world_;
  CommKey route_;
  Problem problem_;
  TileOrder order_;
  StoreOrder stored_;
  Crew crew_;
  bool exclusive_;
  Mutant mutant_;
  Launches launches_;
};

/// Elements of the whole tiles that cover one row block, with the tile that needs most. It is not
/// always the largest: 256 rows are one tile of 256 rows, or two of 192.
std::int64_t most_elements_of_tiles(const Problem& problem, const GpuLimits& limits) {
  const auto padded = [](std::int64_t size, std::int64_t tile) {
    return (size + tile - 1) / tile * tile;
  };
  std::int64_t most = 0;
  for (const Tile& tile : feasible_tiles(limits, problem.elements)) {
    if (!has_store_kernel(tile, limits)) continue;
    most = std::max(most, padded(problem.m / row_blocks(problem), tile.block_m) *
                              padded(problem.n, tile.block_n));
  }
  return most;
}

}  // namespace

GeneratedStores stores_of(const Problem& problem, const StoreOrder& order, int rank,
                          std::vector<GeneratedStores::Peer> peers, int signals_a_tile) {
  const auto signals = [&](std::int64_t tiles) {
    return static_cast<std::uint32_t>(tiles * signals_a_tile);
  };
  GeneratedStores made{.rank = rank,
                       .owns_blocks = order.owns_blocks,
                       .own_later = order.own_later,
                       .adds = traits_of(problem.op).sums,
                       .slots = order.slots(),
                       .before_waits = tiles_before_waits(order, rank, traits_of(problem.op).sums),
                       .peers = std::move(peers)};
  std::int64_t into_c = 0;  // tiles that peers store into this rank's C
  std::int64_t computed = 0;
  std::int64_t own_before = 0;
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    const StoreOrder::Group& group = order.groups[i];
    const std::int64_t own = order.share(i, rank).count();
    const std::int64_t all = group.tiles.count() * (order.owns_blocks ? order.ranks : 1);
    computed += all - own + (order.own_later ? own_before : own);
    own_before = own;
    made.groups.push_back({.end = group.tiles.end,
                           .computed = computed,
                           .slot = group.slot,
                           .arrivals = made.adds ? signals((order.ranks - 1) * own) : 0});
    if (!made.adds) into_c += (order.ranks - 1) * own;
    if (!made.owns_blocks) into_c += group.tiles.count() - own;
  }
  made.done = signals(into_c);
  return made;
}

std::int64_t bytes_of_slots(const Problem& problem, const StoreOrder& order) {
  if (!traits_of(problem.op).sums) return 0;
  return (order.ranks - 1) * order.slots() * slot_bytes(order);
}

Expected<std::unique_ptr<Plan>> make_peer_store(const Request& request) {
  const Problem& problem = request.work.problem();
  const CommKey key =
      route(collective_of(problem.op), problem.ranks, kNoCtas, Transport::peer_access);
  if (auto ready = make_ready(request.engine.world, key); !ready) return error_of(ready);
  const auto gemm = request.engine.generated.gemm(request.work.tiled().kernel);
  if (!gemm) return error_of(gemm);
  return std::make_unique<PeerStorePlan>(request, **gemm, key);
}

std::int64_t workspace_of_stores(const Work& work) {
  return bytes_of_slots(work.problem(), order_of(work));
}

std::int64_t most_workspace_of_stores(const Problem& problem) {
  const OpTraits& op = traits_of(problem.op);
  if (!op.sums) return 0;
  // Slots hold whole tiles, also at the edges of what a rank owns. Where it owns a part of each
  // group, each group may add a slot.
  const GpuLimits& limits = gpu_limits(kernels::kHopper);
  const std::int64_t all = most_elements_of_tiles(problem, limits);
  const std::int64_t owned =
      op.c_is_block ? all
                    : all / problem.ranks + std::int64_t{kMostRegions} * limits.largest_store_area;
  return (problem.ranks - 1) * owned * result_bytes(problem.elements);
}

}  // namespace overlaptune::run
