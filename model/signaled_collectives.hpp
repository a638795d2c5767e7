#pragma once
// The collectives of wave groups: the side of a `signaled` config that is the same for every tile.

#include <optional>

#include "model/clock_slowdown.hpp"
#include "model/partition.hpp"

namespace overlaptune::signaled {

/// Groups are of unlike sizes: contention and copies are taken at a typical one, a quarter of the
/// whole.
inline constexpr double kTypicalGroups = 4;

struct GroupCollectives {
  const ClassGemms* gemms = nullptr;  ///< what runs beside them; the generated ones were probed
  /// The collectives of all groups but the last. `kHandedOver` CTAs: beside one CTA for each tile.
  CollectiveKey key{};
  GroupTransports transport{};
  Wait wait{};
  const Curve* curve = nullptr;
  const Curve* last = nullptr;  ///< the last group's, if it has one of its own
  double bytes = 0;
  double whole = 0;  ///< the collective in one piece
  double least_time_per_byte = 0;
  double least_time = 0;  ///< any piece takes so long, but for `shared`
  double shared = 0;  ///< part of each piece's time: not counted but in `first_more` and `drain`
  double first_more = 0;  ///< what the first piece takes besides
  double drain = 0;       ///< what comes after the last one
  Reorder reorder{};      ///< groups that come while the GEMM runs, and the last one
  /// Copy engines: what a rank's own part takes for each byte of the whole, moved by the SMs that
  /// the GEMM leaves and by all of them.
  double move_beside = 0;
  double move_after = 0;
  double start = 0;
  OverlapRates rates{};
  Feed feed{};      ///< what it leaves to the GEMM's operands
  int sms = 0;      ///< left to the GEMM
  int all_sms = 0;  ///< which the GEMM has for the first group
  BackgroundLoad background{};
};

/// All groups by the collective that `key` says, which alone takes `curve`.
[[nodiscard]] GroupCollectives group_collectives(const Model::Parts& parts, const ClassGemms& gemms,
                                                 const Problem& problem, const CollectiveKey& key,
                                                 const Curve& curve, Wait wait, Launch launch,
                                                 const BackgroundLoad& background);

/// All groups by copy engines; own parts are moved by `key.comm_ctas` SMs beside the GEMM (`curve`:
/// alone, by as many). Null where they were not probed with all SMs.
[[nodiscard]] std::optional<GroupCollectives> groups_by_copies(
    const Model::Parts& parts, const ClassGemms& gemms, const Problem& problem,
    const CollectiveKey& key, const Curve& curve, Launch launch, const BackgroundLoad& background);

/// The same with a last group by `transport`, which takes `last` with NCCL's own choice of CTAs.
[[nodiscard]] GroupCollectives with_last_group(GroupCollectives groups, Transport transport,
                                               const Curve& last);

}  // namespace overlaptune::signaled
