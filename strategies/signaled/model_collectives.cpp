#include "strategies/signaled/model_collectives.hpp"

#include <algorithm>

#include "core/config/tiling.hpp"
#include "strategies/signaled/traits.hpp"

namespace overlaptune::signaled {
namespace {

/// Finds the least times of the groups, which depend on all other values.
void set_least(GroupCollectives& groups) {
  groups.least = least_times({.bytes = groups.bytes,
                              .collective = groups.curve,
                              .last = groups.last,
                              .shared = groups.shared,
                              .rates = groups.rates});
}

/// Adapts `groups` to peer access, where one kernel takes all groups. Another group costs it `gap`,
/// in which it also sees the signal. The rest of the time of the smallest exchange counts once:
/// half for starting and for meeting the peers, which only the first group waits for, and half for
/// parting from them.
void be_one_kernel(GroupCollectives& groups, double gap) {
  const double smallest = (*groups.curve)(0);
  const double first_trigger = groups.rates.trigger;
  groups.rates.gap = std::min(gap, smallest);
  groups.rates.trigger = std::min(first_trigger, groups.rates.gap);
  groups.shared = smallest;
  groups.drain = (smallest - groups.rates.gap) / 2;
  // One group alone takes its trigger and a whole exchange.
  groups.first_more = smallest - groups.drain + first_trigger - groups.rates.trigger;
  groups.reorder = {};
}

}  // namespace

Signaled exchange_of(Signaled config) {
  const Signaled fresh;
  config.tile = fresh.tile;
  config.swizzle = fresh.swizzle;
  config.wave_groups.clear();
  return config;
}

std::vector<Signaled> exchanges(int comm_ctas, Transport transport) {
  std::vector<Signaled> list;
  for (const auto& [wait, name] : NamesOf<Wait>::all) {
    if (wait == Wait::kernel && !TraitsOf<Signaled>::kernel_waits.contains(transport)) continue;
    list.push_back({.comm_ctas = comm_ctas, .transport = all_groups_by(transport), .wait = wait});
  }
  return list;
}

CollectiveKey key_of(const Problem& problem, const Signaled& config) {
  return {collective_of(problem.op), problem.ranks, config.comm_ctas, config.transport.beside_gemm};
}

GroupCollectives group_collectives(const Model::Parts& parts, const ClassGemms& gemms,
                                   const Problem& problem, const Signaled& config,
                                   const Curve& curve, Launch launch,
                                   const BackgroundLoad& background) {
  const CollectiveKey key = key_of(problem, config);
  const auto bytes = static_cast<double>(collective_bytes(problem).count);
  const Slowdown slowdown =
      gemms.contention(key, bytes / kTypicalGroups, problem.k, GemmFamily::generated);
  const int received = received_divisor(problem);
  const double trigger = parts.launch.trigger_of(config.wait, launch);
  GroupCollectives groups{
      .gemms = &gemms,
      .key = key,
      .exchange = exchange_of(config),
      .curve = &curve,
      .bytes = bytes,
      .whole = curve(bytes),
      .reorder = {.start = parts.launch.kernel_gap,
                  .per_byte = parts.launch.reorder_beside(key.comm_ctas) / received,
                  .last_per_byte = parts.launch.reorder_per_byte / received},
      .start = parts.launch.start(launch),
      .rates = {.producer_slowdown = slowdown.gemm,
                .consumer_slowdown = slowdown.collective,
                .trigger = trigger,
                // A wait takes its time even for a signal that is there already.
                .gap = parts.launch.kernel_gap + trigger},
      // A GEMM that hands over SMs is slowed by losing them, not by a lack of operands.
      .feed = key.comm_ctas == kHandedOver
                  ? Feed{}
                  : gemms.contention.feed()(*gemms.generated, problem.k, slowdown.gemm),
      .sms = parts.platform.sms - key.comm_ctas,
      .all_sms = parts.platform.sms,
      .background = background};
  if (key.transport == Transport::peer_access) be_one_kernel(groups, parts.costs.peer_gap.count());
  set_least(groups);
  return groups;
}

std::optional<GroupCollectives> groups_by_copies(const Model::Parts& parts, const ClassGemms& gemms,
                                                 const Problem& problem, const Signaled& config,
                                                 const Curve& curve, Launch launch,
                                                 const BackgroundLoad& background) {
  CollectiveKey with_all_sms = key_of(problem, config);
  with_all_sms.comm_ctas = 0;
  const CopyRow* row = parts.collectives.find_row(with_all_sms);
  if (row == nullptr) return std::nullopt;
  const Curve& last = row->last;
  GroupCollectives groups =
      group_collectives(parts, gemms, problem, config, curve, launch, background);
  groups.move_beside = groups.whole * groups.rates.consumer_slowdown / groups.bytes;
  groups.move_after = parts.launch.reorder_per_byte / problem.ranks;
  groups.curve = &row->curve;
  groups.last = &row->last;
  groups.whole = last(groups.bytes);
  groups.shared = row->drain;
  groups.drain = row->drain;
  // The GEMM does not slow copies. Own parts that fall behind them come last.
  groups.rates.consumer_slowdown = 1;
  groups.feed.collective_share = 0;
  set_least(groups);
  return groups;
}

GroupCollectives with_last_group(GroupCollectives groups, Transport transport, const Curve& last) {
  groups.exchange.transport.last = transport;
  groups.last = &last;
  set_least(groups);
  return groups;
}

}  // namespace overlaptune::signaled
