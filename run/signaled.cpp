// `signaled`: one GEMM of ours on SMs - comm_ctas; as the tiles of a wave group are stored its
// counter rises, and on a second stream its collective, which waits for that, starts.

#include "core/tiling.hpp"
#include "run/own_gemm.hpp"
#include "run/strategies.hpp"
#include "run/stream_wait.hpp"

namespace overlaptune::run {
namespace {

struct Groups {
  std::vector<std::int64_t> ends{};  ///< tiles
  std::vector<std::int64_t> rows{};  ///< of each row block
};

/// Groups of whole super panels: their rows lie together, and no result needs to be put in order.
Expected<Groups> groups_of(const TileOrder& order, const Config& config) {
  const auto cuts = group_cuts(order, config);
  if (!cuts) return tl::make_unexpected(cuts.error());
  Groups groups;
  std::int64_t before = 0;
  for (const Cut& cut : *cuts) {
    if (!cut.contiguous) {
      return bad_input(
          "wave_groups: a group ends within a super panel: not available on GPUs yet, choose ends "
          "that are whole super panels");
    }
    const std::int64_t rows = cut.bytes.count / (kElementBytes * order.n * order.blocks);
    groups.ends.push_back(cut.tiles);
    groups.rows.push_back(rows - before);
    before = rows;
  }
  return groups;
}

class SignaledPlan : public Plan {
 public:
  SignaledPlan(const OwnGemm& gemm, Pieces pieces, const TileOrder& order, std::int64_t k, int sms,
               Groups groups, Mutant mutant)
      : gemm_(gemm),
        pieces_(std::move(pieces)),
        order_(order),
        k_(k),
        sms_(sms),
        groups_(std::move(groups)),
        mutant_(mutant),
        comm_(make_stream(Priority::high)),
        fork_(make_event(false)),
        join_(make_event(false)),
        counters_(device_memory(groups_.ends.size() * sizeof(std::uint32_t))) {}

  void enqueue(cudaStream_t stream, const Operands& operands) override {
    auto* const counters = static_cast<std::uint32_t*>(counters_.get());
    OVT_CHECK(cudaMemsetAsync(counters, 0, groups_.ends.size() * sizeof(std::uint32_t), stream));
    OVT_CHECK(cudaEventRecord(fork_.get(), stream));
    OVT_CHECK(cudaStreamWaitEvent(comm_.get(), fork_.get(), 0));
    // The GEMM before any wait for it.
    gemm_.enqueue(stream, order_, sms_, own_operands(operands), counters);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < groups_.ends.size(); ++i) {
      const bool last = i + 1 == groups_.ends.size();
      const std::int64_t tiles = groups_.ends[i] - begin - (last ? left_out_tiles() : 0);
      begin = groups_.ends[i];
      if (mutant_ != Mutant::missing_wait) {
        wait_for_value(comm_.get(), counters + i,
                       static_cast<std::uint32_t>(tiles * gemm_.signals_a_tile()));
      }
      pieces_.enqueue_exchange(comm_.get(), i, operands);
    }
    OVT_CHECK(cudaEventRecord(join_.get(), comm_.get()));
    OVT_CHECK(cudaStreamWaitEvent(stream, join_.get(), 0));
  }

 private:
  [[nodiscard]] std::int64_t left_out_tiles() const {
    return mutant_ == Mutant::skipped_tile ? 1 : 0;
  }

  [[nodiscard]] OwnOperands own_operands(const Operands& operands) const {
    OwnOperands own{.a = operands.a,
                    .b = operands.b,
                    .k = k_,
                    .left_out_k = mutant_ == Mutant::skipped_k_step && k_ > 64 ? 64 : 0,
                    .left_out_tiles = left_out_tiles()};
    std::int64_t first_row = 0;
    for (std::size_t i = 0; i < groups_.ends.size(); ++i) {
      const std::int64_t rows = groups_.rows[i];
      own.groups.push_back({.end = groups_.ends[i],
                            .first_row = first_row,
                            .rows = rows,
                            .c = pieces_.product(i, operands),
                            .block_stride = rows * order_.n});
      first_row += rows;
    }
    return own;
  }

  const OwnGemm& gemm_;
  Pieces pieces_;
  TileOrder order_;
  std::int64_t k_;
  int sms_;
  Groups groups_;
  Mutant mutant_;
  Stream comm_;
  Event fork_;
  Event join_;
  DeviceMemory counters_;
};

}  // namespace

Expected<std::unique_ptr<Plan>> make_signaled(const Request& request) {
  const Problem& problem = request.problem;
  const Config& config = request.config;
  if (problem.op == Op::all_gather_gemm) {
    return bad_input("signaled needs the GEMM before the collective, not all_gather_gemm");
  }
  const int sms = request.engine.sms - config.comm_ctas;
  if (config.comm_ctas < 1 || sms < 1) {
    return bad_input("comm_ctas: signaled needs 1 to " + std::to_string(request.engine.sms - 1));
  }
  if (!can_wait_for_value()) return bad_input("signaled: the driver has no wait on memory");
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  auto groups = groups_of(order, config);
  if (!groups) return tl::make_unexpected(groups.error());
  const auto gemm =
      request.engine.own.gemm(config.tile, problem.dtype, static_cast<int>(groups->ends.size()));
  if (!gemm) return tl::make_unexpected(gemm.error());
  Pieces pieces(request.engine, problem, request.route, sms, groups->rows, Mutant::none);
  return std::make_unique<SignaledPlan>(**gemm, std::move(pieces), order, problem.k, sms,
                                        std::move(*groups), request.mutant);
}

}  // namespace overlaptune::run
