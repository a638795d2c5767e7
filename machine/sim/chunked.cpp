// `sequential` and `chunked`: library GEMMs and collectives, one of each for a part. `sequential`
// has one part, and its GEMM has all SMs.

#include "machine/sim/strategies.hpp"

namespace overlaptune::sim {
namespace {

/// The differences between the two.
struct Parts {
  int comm_ctas = 0;
  Transport transport{};
  int sms = 0;  ///< SMs of the GEMMs
  /// All rows of all row blocks are one product, not a batch of products that share B.
  bool one_product = false;
};

Expected<Schedule> schedule_parts(const Profile& profile, const Work& work, const Parts& parts) {
  const Problem& problem = work.problem();
  const bool gather = traits_of(problem.op).exchanges_first;
  Schedule schedule{.coupling = gather ? Coupling::collective_first : Coupling::gemm_first};
  for (const std::int64_t block_rows : work.chunked().rows) {
    const std::int64_t m = block_rows * row_blocks(problem);
    const auto run = collective_run(
        profile, work.collective(),
        static_cast<double>(m) *
            static_cast<double>(exchanged_columns(problem) * bytes_of(exchanged_dtype(problem))),
        problem.ranks, parts.comm_ctas, parts.transport);
    if (!run) return error_of(run);
    schedule.collectives.push_back({.run = *run});
    const GemmKernel kernel = parts.one_product
                                  ? library_kernel(profile, problem.elements, 1, problem.m,
                                                   problem.n, problem.k, parts.sms)
                                  : library_kernel(profile, problem.elements, row_blocks(problem),
                                                   block_rows, problem.n, problem.k, parts.sms);
    schedule.gemms.push_back(plan_gemm(profile, kernel));
  }
  return schedule;
}

class SequentialSimulation : public StrategySimulation {
 public:
  [[nodiscard]] Strategy strategy() const override { return Strategy::sequential; }
  [[nodiscard]] Expected<Schedule> schedule(const Profile& profile,
                                            const Work& work) const override {
    const auto& config = work.config_as<Sequential>();
    return schedule_parts(profile, work,
                          {config.comm_ctas, config.transport, profile.gpu.sms, true});
  }
};

class ChunkedSimulation : public StrategySimulation {
 public:
  [[nodiscard]] Strategy strategy() const override { return Strategy::chunked; }
  [[nodiscard]] Expected<Schedule> schedule(const Profile& profile,
                                            const Work& work) const override {
    const auto& config = work.config_as<Chunked>();
    return schedule_parts(
        profile, work,
        {config.comm_ctas, config.transport, profile.gpu.sms - config.comm_ctas, false});
  }
};

}  // namespace

std::unique_ptr<StrategySimulation> simulate_sequential() {
  return std::make_unique<SequentialSimulation>();
}

std::unique_ptr<StrategySimulation> simulate_chunked() {
  return std::make_unique<ChunkedSimulation>();
}

}  // namespace overlaptune::sim
