#pragma once
// The schedule of a unit of work: kernels and collectives in their order, with their costs alone.

#include <optional>
#include <vector>

#include "core/config/work.hpp"
#include "machine/simulator/clock.hpp"
#include "machine/simulator/collective.hpp"
#include "machine/simulator/gemm_execution.hpp"
#include "strategies/peer_store/sim_run.hpp"

namespace overlaptune::sim {

struct PlannedGemm {
  TileTimes times{};
  TileSchedule schedule{};
};

struct PlannedCollective {
  CollectiveRun run{};
  double reorder = 0;         ///< time of the copy of what it received into place, after it
  double reorder_slowed = 1;  ///< factor on that copy while the GEMM leaves it few SMs
  double takes = 0;           ///< share of the SMs that the GEMM hands over to it, tile by tile
};

/// Share of the SMs that a collective with NCCL's own choice of CTAs takes from a GEMM with one CTA
/// for each tile.
[[nodiscard]] double share_taken(const Profile& profile);

/// Factor by which a copy into place takes longer on `sms` free SMs than on all. It is 1 for
/// `kHandedOver`, where the copy's kernel gets SMs as all kernels do.
[[nodiscard]] double reorder_slowed(const Profile& profile, int sms);

/// The times that the kernel of peer access takes once, apart from the groups of `whole`, its
/// collective. On fewer ranks than measured they are the same share of the latency.
[[nodiscard]] PeerProfile taken_once(const Profile& profile, const CollectiveRun& whole);
/// The part of a collective by peer access that is one of several groups.
[[nodiscard]] CollectiveRun as_group(const Profile& profile, CollectiveRun run);

/// How the collectives depend on the GEMMs.
enum class Coupling {
  gemm_first,        ///< collective i waits for the end of GEMM i
  collective_first,  ///< GEMM i waits for the end of collective i
  signaled,          ///< collective i waits for group i of the only GEMM
  waiting,           ///< tiles of group i + 1 of the only GEMM wait for collective i
};

struct Schedule {
  Coupling coupling = Coupling::gemm_first;
  std::vector<PlannedGemm> gemms{};
  std::vector<PlannedCollective> collectives{};
  /// `waiting`: for each chunk of columns, the part of its time after which a tile needs it. Each
  /// chunk has a collective for every group.
  std::vector<double> needed_after{0};
  Wait wait = Wait::driver;           ///< for the signal of a group
  std::optional<PeerProfile> peer{};  ///< one kernel takes all groups by peer access
  bool tiles_push = false;  ///< `waiting`: the GEMM's own tiles are what a collective takes
  /// The only GEMM stores its tiles at their owners. The only collective says what it sends.
  std::optional<StorePlan> stores{};
  [[nodiscard]] Load work() const;
};

/// The plan of a GEMM that is one group.
[[nodiscard]] PlannedGemm plan_gemm(const Profile& profile, const GemmKernel& kernel);

/// How the parts of `schedule_parts` are computed and exchanged.
struct LibraryParts {
  int comm_ctas = 0;
  Transport transport{};
  int sms = 0;  ///< SMs of the GEMMs
  /// All rows of all row blocks are one product, not a batch of products that share B.
  bool one_product = false;
};

/// The schedule of library GEMMs and collectives, one of each for a part of the rows: one part for
/// `sequential`, several for `chunked`. Error: the profile has no curve for their collectives.
[[nodiscard]] Expected<Schedule> schedule_parts(const Profile& profile, const Work& work,
                                                const LibraryParts& parts);

}  // namespace overlaptune::sim
