#include "machine/simulator/library_parts.hpp"

namespace overlaptune::sim {

Expected<Schedule> schedule_parts(const Profile& profile, const Work& work,
                                  const LibraryParts& parts) {
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

}  // namespace overlaptune::sim
