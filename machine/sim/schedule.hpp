#pragma once
// What a unit of work makes the machine do: kernels and collectives with their costs alone, and in
// which order.

#include <vector>

#include "core/work.hpp"
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

/// Share of the SMs that a collective with NCCL's own choice of CTAs takes from a GEMM whose tiles
/// have a CTA each.
[[nodiscard]] double share_taken(const Profile& profile);

/// How many times longer a copy into place takes when its kernel finds `sms` SMs free than with all
/// (`kHandedOver`: it gets SMs as all kernels do, and is as fast).
[[nodiscard]] double reorder_slowed(const Profile& profile, int sms);

/// How the collectives depend on the GEMMs.
enum class Coupling {
  gemm_first,        ///< collective i waits for the end of GEMM i
  collective_first,  ///< GEMM i waits for the end of collective i
  signaled,          ///< collective i waits for group i of the only GEMM
};

struct Schedule {
  Coupling coupling = Coupling::gemm_first;
  std::vector<PlannedGemm> gemms{};
  std::vector<PlannedCollective> collectives{};
  [[nodiscard]] Load work() const;
};

/// A GEMM that is one group.
[[nodiscard]] PlannedGemm plan_gemm(const Profile& profile, const GemmKernel& kernel);

}  // namespace overlaptune::sim
