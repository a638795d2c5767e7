#include "strategies/peer_store/runner.hpp"

#include <algorithm>

#include "core/gpu.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/exchange/collective.hpp"
#include "run/exchange/peers.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "run/gemm/launches.hpp"
#include "run/streams/stream_wait.hpp"
#include "strategies/peer_store/run_stored_tiles.hpp"

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
                                   : enqueue_gate(stream, world_, route_, kernels::Counters::reset,
                                                  places_c() ? operands.c : nullptr);
    gemm_.enqueue(stream, launches_[operands], before);
  }

  [[nodiscard]] bool places_c() const override { return !traits_of(problem_.op).c_is_block; }

  void forget_addresses() override { launches_.clear(); }

 private:
  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    if (world_.rank() >= problem_.ranks) return {};
    const GeneratedOperands own{
        .a = operands.a,
        .b = operands.b,
        .k = problem_.k,
        .scales = operands.scales,
        .stores = stores(operands),
        .barrier = places_c() ? barrier_with(world_, route_, operands.c) : world_.barrier(route_),
        .has_barrier = exclusive_,
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = mutant_ == Mutant::skipped_tile ? 1 : 0};
    return gemm_.prepare(order_, crew_, own, nullptr);
  }

  [[nodiscard]] GeneratedStores stores(const Operands& operands) const {
    std::vector<GeneratedStores::Peer> peers;
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      const bool has_slots = bytes_of_slots(problem_, stored_) > 0;
      const bool own = peer == world_.rank();
      peers.push_back(
          {.slots = has_slots ? there(world_, route_, peer, operands.workspace) : nullptr,
           .c = rows_in(own ? operands.c : world_.memory_of(route_, peer), own),
           .result = own ? nullptr : rows_in(world_.results_of(route_, peer), false)});
    }
    const int signals = gemm_.signals_a_tile();
    GeneratedStores made = stores_of(problem_, stored_, world_.rank(), std::move(peers), signals);
    constexpr std::int64_t kUnit = kernels::device::kPlaceBytes;
    made.places = static_cast<std::int64_t>(world_.capacity()) / kUnit;
    if (world_.results()) {
      made.result_places = static_cast<std::int64_t>(world_.results()->bytes()) / kUnit;
    }
    spoil(made);
    return made;
  }

  /// Makes the waits of a plan that is wrong on purpose.
  void spoil(GeneratedStores& stores) const {
    if (mutant_ == Mutant::missing_wait) {
      // Sums are waited for also then: those that came behind the launch that counts them would be
      // counted by the next one.
      for (GeneratedStores::Group& group : stores.groups) group.arrivals = 0;
      if (!stores.adds) stores.done = 0;
    }
    if (mutant_ == Mutant::missing_signal) {  // one more than ever comes, for each group or C
      for (GeneratedStores::Group& group : stores.groups) group.arrivals += stores.adds ? 1 : 0;
      stores.done += stores.adds ? 0 : 1;
    }
    if (mutant_ == Mutant::skipped_tile && !stores.owns_blocks) {
      // The last tile of a peer is one that it owns: its sums are not waited for.
      for (int peer = 0; peer < problem_.ranks; ++peer) {
        const StoredTile last = stored_tile(stored_, peer, stored_.tiles() - 1);
        if (peer == stores.rank || last.owner != peer) continue;
        stores.done -= static_cast<std::uint32_t>(gemm_.signals_a_tile());
      }
    }
  }

  /// The rows that this rank's tiles fill in C of a rank, its own or another's; null: none.
  [[nodiscard]] void* rows_in(void* c, bool own) const {
    const OpTraits& op = traits_of(problem_.op);
    if (c == nullptr || (op.c_is_block && !own)) return nullptr;
    if (op.c_is_block || op.in_place()) return c;
    return at(c, world_.rank() * order_.block_rows * problem_.n, result_of(problem_.elements));
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

Expected<std::unique_ptr<Plan>> RunnerOf<PeerStore>::make(const Request& request) {
  const Problem& problem = request.work.problem();
  const CommKey key =
      route(collective_of(problem.op), problem.ranks, kNoCtas, Transport::peer_access);
  if (auto made = ready(request, key); !made) return error_of(made);
  const auto gemm = request.engine.generated.gemm(request.work.tiled().kernel);
  if (!gemm) return error_of(gemm);
  return std::make_unique<PeerStorePlan>(request, **gemm, key);
}

std::int64_t RunnerOf<PeerStore>::workspace_bytes(const Work& work) {
  return bytes_of_slots(work.problem(), order_of(work));
}

std::int64_t RunnerOf<PeerStore>::most_workspace_bytes(const Problem& problem) {
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
