// `signaled`: one GEMM of ours; as the tiles of a wave group are stored its counter rises, and on a
// second stream its collective, which waits for that, starts. The GEMM has all SMs for the tiles of
// the first group, then leaves comm_ctas of them to the collectives (or, where copy engines
// exchange, to what moves this rank's own parts; with peer access, to one kernel of ours that looks
// for each group's signals itself). With comm_ctas 0 it has one CTA for each tile, and whatever of
// the collectives is ready comes before those that have not begun.

#include <algorithm>

#include "core/tiling.hpp"
#include "run/copies.hpp"
#include "run/own_gemm.hpp"
#include "run/peers.hpp"
#include "run/strategies.hpp"
#include "run/stream_wait.hpp"
#include "run/wave_group.hpp"

namespace overlaptune::run {
namespace {

/// Launches that a plan keeps ready: more operands than a program alternates between.
constexpr std::size_t kRemembered = 64;

class SignaledPlan : public Plan {
 public:
  SignaledPlan(const Request& request, const OwnGemm& gemm, const TileOrder& order,
               std::vector<WaveGroup> groups)
      : world_(request.engine.world),
        gemm_(gemm),
        order_(order),
        problem_(request.problem),
        groups_(std::move(groups)),
        crew_{.sms = request.engine.sms,
              .leaving = request.config.comm_ctas,
              .early = groups_.front().tiles(),
              .persistent = request.config.comm_ctas > 0},
        mutant_(request.mutant),
        route_(request.route),
        wait_(request.config.wait),
        takes_part_(world_.rank() < request.problem.ranks),
        comm_(make_stream(Priority::high)),
        fork_(make_event(false)),
        join_(make_event(false)),
        counters_(device_memory(groups_.size() * sizeof(std::uint32_t))) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto signal = signal_of(i);
      groups_[i].add_peer_pieces(static_cast<int>(i), signal ? signal->value : 0, peer_pieces_);
    }
    for (const Operands& operands : request.operands) {
      launches_.emplace_back(operands, prepared(operands));
    }
  }

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    OVT_CHECK(cudaMemsetAsync(counters(), 0, groups_.size() * sizeof(std::uint32_t), stream));
    OVT_CHECK(cudaEventRecord(fork_.get(), stream));
    OVT_CHECK(cudaStreamWaitEvent(comm_.get(), fork_.get(), 0));
    // The GEMM before any wait for it.
    enqueue_gemm(stream, operands);
    if (route_.copies) {
      if (takes_part_) enqueue_copies(operands);
    } else if (route_.peers) {
      if (takes_part_) enqueue_peer_access(operands);
    } else {
      enqueue_collectives(operands);
    }
    OVT_CHECK(cudaEventRecord(join_.get(), comm_.get()));
    OVT_CHECK(cudaStreamWaitEvent(stream, join_.get(), 0));
  }

  void release(cudaStream_t aside) override {
    constexpr int kFar = 0x7f;  // in every byte: beyond whatever is waited for
    OVT_CHECK(cudaMemsetAsync(counters(), kFar, groups_.size() * sizeof(std::uint32_t), aside));
  }

 private:
  void enqueue_collectives(const Operands& operands) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (const auto signal = signal_of(i)) {
        wait_for_signal(comm_.get(), signal->counter, signal->value, wait_);
      }
      groups_[i].enqueue_exchange(comm_.get(), world_, operands);
    }
  }

  void enqueue_copies(const Operands& operands) {
    Copies copies(world_, route_, comm_.get());
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      copies.enqueue(groups_[i].copy_piece(operands), signal_of(i));
    }
    copies.finish(comm_.get());
  }

  /// Not before the first group is there: until then the GEMM has all SMs.
  void enqueue_peer_access(const Operands& operands) {
    if (const auto first = signal_of(0)) {
      wait_for_signal(comm_.get(), first->counter, first->value, wait_);
    }
    const bool sums = problem_.op == Op::gemm_all_reduce;
    enqueue_peers(comm_.get(), world_, route_,
                  {.collective = collective_of(problem_.op),
                   .dtype = problem_.dtype,
                   .n = problem_.n,
                   .block_rows = problem_.m / row_blocks(problem_),
                   .matrix = sums ? operands.c : operands.workspace,
                   .result = sums ? nullptr : operands.c},
                  peer_pieces_);
  }

  [[nodiscard]] std::optional<Signal> signal_of(std::size_t group) const {
    if (mutant_ == Mutant::missing_wait) return std::nullopt;
    const bool last = group + 1 == groups_.size();
    const std::int64_t tiles = groups_[group].tiles() - (last ? left_out_tiles() : 0);
    const std::int64_t missing = last && mutant_ == Mutant::missing_signal ? 1 : 0;
    return Signal{counters() + group,
                  static_cast<std::uint32_t>(tiles * gemm_.signals_a_tile() + missing)};
  }

  [[nodiscard]] std::uint32_t* counters() const {
    if (route_.peers && takes_part_) return peer_counters(world_, route_);
    return static_cast<std::uint32_t*>(counters_.get());
  }

  [[nodiscard]] std::int64_t left_out_tiles() const {
    return mutant_ == Mutant::skipped_tile ? 1 : 0;
  }

  /// For operands that were not seen lately, a few microseconds a region.
  void enqueue_gemm(cudaStream_t stream, const Operands& operands) {
    auto known = std::find_if(launches_.begin(), launches_.end(),
                              [&](const auto& each) { return each.first == operands; });
    if (known == launches_.end()) {
      if (launches_.size() == kRemembered) launches_.erase(launches_.begin());
      known = launches_.emplace(launches_.end(), operands, prepared(operands));
    }
    gemm_.enqueue(stream, known->second);
  }

  [[nodiscard]] OwnLaunch prepared(const Operands& operands) const {
    OwnOperands own{.a = operands.a,
                    .b = operands.b,
                    .k = problem_.k,
                    .left_out_k = mutant_ == Mutant::skipped_k_step && problem_.k > 64 ? 64 : 0,
                    .left_out_tiles = left_out_tiles()};
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].add_segments(static_cast<int>(i), operands, own.segments);
    }
    return gemm_.prepare(order_, crew_, own, counters());
  }

  World& world_;
  const OwnGemm& gemm_;
  TileOrder order_;
  Problem problem_;
  std::vector<WaveGroup> groups_;
  Crew crew_;
  Mutant mutant_;
  CommKey route_;
  Wait wait_;
  bool takes_part_;
  Stream comm_;
  Event fork_;
  Event join_;
  DeviceMemory counters_;
  std::vector<kernels::PeerPiece> peer_pieces_{};
  std::vector<std::pair<Operands, OwnLaunch>> launches_{};
};

}  // namespace

Expected<std::unique_ptr<Plan>> make_signaled(const Request& request) {
  const Problem& problem = request.problem;
  const Config& config = request.config;
  if (config.comm_ctas >= request.engine.sms) {
    return bad_input("comm_ctas: signaled needs 0 to " + std::to_string(request.engine.sms - 1));
  }
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  const auto cuts = value_or_throw(group_cuts(order, config));  // runnable
  std::vector<WaveGroup> groups;
  Cut before;
  for (const Cut& cut : cuts) {
    const bool last = &cut == &cuts.back();
    groups.emplace_back(problem, last ? request.last_route : request.route, order, before, cut);
    before = cut;
  }
  const auto gemm = request.engine.own.gemm(*kernel_of(problem, config));
  if (!gemm) return tl::make_unexpected(gemm.error());
  return std::make_unique<SignaledPlan>(request, **gemm, order, std::move(groups));
}

}  // namespace overlaptune::run
