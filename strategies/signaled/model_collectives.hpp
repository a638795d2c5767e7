#pragma once
// The collectives of wave groups: the side of a `signaled` config that is the same for every tile.

#include <optional>
#include <vector>

#include "model/clock_slowdown.hpp"
#include "strategies/signaled/model_partition.hpp"
#include "strategies/signaled/model_partition_bound.hpp"

namespace overlaptune::signaled {

/// Groups differ in size. Contention and copies are computed for a typical one, a quarter of the
/// whole.
inline constexpr double kTypicalGroups = 4;

/// The part of a config that says how its wave groups are exchanged: all except tile, swizzle and
/// wave groups, which have their defaults.
[[nodiscard]] Signaled exchange_of(Signaled config);

/// Every exchange of wave groups by these CTAs and this transport. A new field of `Signaled` that
/// can have several values has them here, for search and draw alike.
[[nodiscard]] std::vector<Signaled> exchanges(int comm_ctas, Transport transport);

struct GroupCollectives {
  const ClassGemms* gemms = nullptr;  ///< beside the collectives; generated ones were probed
  /// The collectives of all groups except the last one. With `kHandedOver` CTAs the GEMM has one
  /// CTA for each tile.
  CollectiveKey key{};
  Signaled exchange{};
  const Curve* curve = nullptr;
  const Curve* last = nullptr;  ///< for the last group; null: `curve`
  double bytes = 0;
  double whole = 0;  ///< time of the collective in one piece
  LeastTimes least{};
  double shared = 0;      ///< part of each piece's time; counted once, by `first_more` and `drain`
  double first_more = 0;  ///< additional time of the first piece
  double drain = 0;       ///< time after the last piece
  Reorder reorder{};      ///< copies into place: of groups while the GEMM runs, and of the last one
  /// Copy engines: the time of the rank's own part for each byte of the whole, moved by the SMs
  /// that the GEMM leaves (`move_beside`) and by all SMs (`move_after`).
  double move_beside = 0;
  double move_after = 0;
  double start = 0;
  OverlapRates rates{};
  Feed feed{};      ///< what the collectives leave to the GEMM's operands
  int sms = 0;      ///< SMs of the GEMM after the first group
  int all_sms = 0;  ///< SMs of the GEMM in the first group
  BackgroundLoad background{};
};

/// The collective of a config's groups, except perhaps of the last one.
[[nodiscard]] CollectiveKey key_of(const Problem& problem, const Signaled& config);

/// The case in which the same collective sends all groups; alone it takes `curve`. A transport of
/// its own for the last group is not regarded.
[[nodiscard]] GroupCollectives group_collectives(const Model::Parts& parts, const ClassGemms& gemms,
                                                 const Problem& problem, const Signaled& config,
                                                 const Curve& curve, Launch launch,
                                                 const BackgroundLoad& background);

/// The case in which copy engines send all groups, and `comm_ctas` SMs move own parts beside the
/// GEMM. `curve` is the exchange alone, with as many SMs. None if the exchange was not probed
/// with all SMs.
[[nodiscard]] std::optional<GroupCollectives> groups_by_copies(
    const Model::Parts& parts, const ClassGemms& gemms, const Problem& problem,
    const Signaled& config, const Curve& curve, Launch launch, const BackgroundLoad& background);

/// Replaces the collective of the last group: it goes by `transport` with NCCL's own choice of
/// CTAs, and takes `last`.
[[nodiscard]] GroupCollectives with_last_group(GroupCollectives groups, Transport transport,
                                               const Curve& last);

}  // namespace overlaptune::signaled
