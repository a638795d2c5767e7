#pragma once
// What a config of a problem makes the machine do: kernels and collectives with their costs alone,
// and in which order.

#include <vector>

#include "core/candidate.hpp"
#include "machine/sim/clock.hpp"
#include "machine/sim/collective.hpp"
#include "machine/sim/gemm_execution.hpp"

namespace overlaptune::sim {

struct PlannedGemm {
  TileTimes times{};
  TileSchedule schedule{};
};

struct PlannedCollective {
  CollectiveRun run{};
  double reorder = 0;         ///< copy of what it received into place, after it, on the same stream
  double reorder_slowed = 1;  ///< while the GEMM leaves it few SMs
  double takes = 0;           ///< share of the SMs that the GEMM hands over to it, tile by tile
};

/// Of NCCL's own choice of CTAs, beside a GEMM whose tiles have a CTA each.
[[nodiscard]] double share_taken(const Profile& profile);

/// Copying into place, by a kernel that finds so many SMs free (0: those that tiles hand over).
[[nodiscard]] double reorder_slowed(const Profile& profile, int sms);

/// How the collectives depend on the GEMMs.
enum class Coupling {
  gemm_first,        ///< collective i waits for the end of GEMM i
  collective_first,  ///< GEMM i waits for the end of collective i
  signaled,          ///< collective i waits for group i of the only GEMM
};

struct Plan {
  Coupling coupling = Coupling::gemm_first;
  std::vector<PlannedGemm> gemms{};
  std::vector<PlannedCollective> collectives{};
  [[nodiscard]] Work work() const;
};

/// Error: what makes the config one that this machine cannot run.
[[nodiscard]] Expected<Plan> make_plan(const Profile& profile, const Problem& problem,
                                       const Config& config);

/// A GEMM that is one group.
[[nodiscard]] PlannedGemm plan_gemm(const Profile& profile, const GemmKernel& kernel);

}  // namespace overlaptune::sim
