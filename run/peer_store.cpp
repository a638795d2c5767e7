// `peer_store`: one generated GEMM on all SMs, which stores each tile at the rank that owns it
// (core/store_order.hpp, kernels/device/peer_store.cu). There is no other kernel and no collective.

#include "core/store_order.hpp"
#include "run/collective.hpp"
#include "run/elements.hpp"
#include "run/generated_gemm.hpp"
#include "run/launches.hpp"
#include "run/peers.hpp"
#include "run/strategies.hpp"

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
        mutant_(request.mutant),
        launches_(request.operands, [this](const Operands& own) { return prepared(own); }) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    if (world_.rank() >= problem_.ranks) return;
    gemm_.enqueue(stream, launches_[operands]);
  }

  void forget_addresses() override { launches_.clear(); }

  /// Ends the waits for tiles of the peers.
  void release(cudaStream_t aside) override {
    if (world_.rank() >= problem_.ranks) return;
    constexpr int kFar = 0x7f;  // more than any value that is waited for
    kernels::StoreWords* const words = store_words(world_, route_, world_.rank());
    OVT_CHECK(cudaMemsetAsync(words->counters, kFar, sizeof words->counters, aside));
    OVT_CHECK(cudaMemsetAsync(&words->done, kFar, sizeof words->done, aside));
  }

 private:
  [[nodiscard]] GeneratedLaunch prepared(const Operands& operands) const {
    if (world_.rank() >= problem_.ranks) return {};
    const GeneratedOperands own{
        .a = operands.a,
        .b = operands.b,
        .k = problem_.k,
        .stores = stores(operands),
        .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
        .left_out_tiles = left_out_tiles()};
    return gemm_.prepare(order_, crew_, own, nullptr);
  }

  [[nodiscard]] std::int64_t left_out_tiles() const {
    return mutant_ == Mutant::skipped_tile ? 1 : 0;
  }

  [[nodiscard]] GeneratedStores stores(const Operands& operands) const {
    const Collective collective = collective_of(problem_.op);
    const int rank = world_.rank();
    GeneratedStores made{.rank = rank,
                         .owns_blocks = stored_.owns_blocks,
                         .adds = collective != Collective::all_to_all,
                         .slots = stored_.slots(),
                         .done = done()};
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      made.peers.push_back({.slots = made.adds ? there(peer, operands.workspace) : nullptr,
                            .words = store_words(world_, route_, peer),
                            .c = rows_at(peer, operands)});
    }
    for (std::size_t group = 0; group < stored_.groups.size(); ++group) {
      made.groups.push_back({.end = stored_.groups[group].tiles.end,
                             .slot = stored_.groups[group].slot,
                             .arrivals = arrivals(group)});
    }
    return made;
  }

  /// The rows of C that this rank's tiles fill at a rank.
  [[nodiscard]] void* rows_at(int peer, const Operands& operands) const {
    switch (collective_of(problem_.op)) {
      case Collective::reduce_scatter:
        return peer == world_.rank() ? operands.c : nullptr;
      case Collective::all_to_all:
        return at(there(peer, operands.c), world_.rank() * order_.block_rows * problem_.n,
                  problem_.dtype);
      default:
        return there(peer, operands.c);
    }
  }

  /// The address at a rank that corresponds to `here`.
  [[nodiscard]] void* there(int peer, void* here) const {
    return world_.memory_of(route_, peer) + offset_in(world_, here);
  }

  /// The counter of a group when the peers have stored all its tiles that this rank owns.
  [[nodiscard]] std::uint32_t arrivals(std::size_t group) const {
    if (mutant_ == Mutant::missing_wait) return 0;
    const std::int64_t tiles = stored_.share(group, world_.rank()).count();
    const bool last = group + 1 == stored_.groups.size();
    const std::int64_t missing = last && mutant_ == Mutant::missing_signal ? 1 : 0;
    return static_cast<std::uint32_t>((problem_.ranks - 1) * tiles * gemm_.signals_a_tile() +
                                      missing);
  }

  /// The increments by the peers for tiles that they store into C: gemm_all_to_all, the tiles of one
  /// row block of each; gemm_all_reduce, the tiles that each owns.
  [[nodiscard]] std::uint32_t done() const {
    std::int64_t tiles = 0;
    for (int peer = 0; peer < problem_.ranks; ++peer) {
      if (problem_.op == Op::gemm_reduce_scatter || peer == world_.rank()) continue;
      for (std::size_t group = 0; group < stored_.groups.size(); ++group) {
        tiles += stored_.share(group, peer).count();
      }
      if (problem_.op == Op::gemm_all_reduce) tiles -= left_out_tiles();  // an own tile is the last
    }
    const bool late = problem_.op == Op::gemm_all_to_all && mutant_ == Mutant::missing_signal;
    const bool waits = problem_.op != Op::gemm_all_to_all || mutant_ != Mutant::missing_wait;
    return waits ? static_cast<std::uint32_t>(tiles * gemm_.signals_a_tile() + (late ? 1 : 0)) : 0;
  }

  const GeneratedGemm& gemm_;
  World& world_;
  CommKey route_;
  Problem problem_;
  TileOrder order_;
  StoreOrder stored_;
  Crew crew_;
  Mutant mutant_;
  Launches launches_;
};

}  // namespace

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
  if (work.collective() == Collective::all_to_all) return 0;
  const StoreOrder order = order_of(work);
  return (order.ranks - 1) * order.slots() * slot_bytes(order);
}

}  // namespace overlaptune::run
