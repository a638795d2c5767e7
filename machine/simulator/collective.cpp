#include "machine/simulator/collective.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace overlaptune::sim {
namespace {

// Norm that joins the time of the links and the time of the CTAs. It is fitted to the 4-GPU sweep
// of CTAs (docs/profiles.md).
constexpr double kCtaNorm = 3;

/// Bytes that each rank sends in a ring, per byte of the whole buffer (nccl-tests, PERFORMANCE.md).
double ring_traffic(Collective collective, int ranks) {
  const double once = (ranks - 1.0) / ranks;
  return collective == Collective::all_reduce ? 2 * once : once;
}

/// The entry with this rank count, or the nearest one. An all_gather by peer access, which no
/// profile has, takes as long as an all_to_all, which moves as many bytes between the same ranks.
const CollectiveProfile* find(const Profile& profile, Collective collective, Transport transport,
                              int ranks) {
  if (collective == Collective::all_gather && transport == Transport::peer_access) {
    collective = Collective::all_to_all;
  }
  const CollectiveProfile* best = nullptr;
  for (const CollectiveProfile& entry : profile.collectives) {
    if (entry.collective != collective || entry.transport != transport) continue;
    if (best == nullptr || std::abs(entry.ranks - ranks) < std::abs(best->ranks - ranks)) {
      best = &entry;
    }
  }
  return best;
}

/// The measured time on `ctas` CTAs: straight lines of logarithms between two numbers of CTAs. With
/// fewer than the fewest, all but the latency takes longer in proportion.
double time_of(const CollectiveProfile& entry, double bytes, int ctas) {
  const auto& rows = entry.by_ctas;
  const auto high =
      std::ranges::find_if(rows, [&](const CtaTimes& row) { return row.ctas >= ctas; });
  if (high == rows.end()) return rows.back().times.geometric(bytes);
  const double after = high->times.geometric(bytes);
  if (high == rows.begin()) {
    const double latency = high->times.values.front();
    return latency + (after - latency) * high->ctas / ctas;
  }
  const CtaTimes& low = *(high - 1);
  const double share = std::log(1.0 * ctas / low.ctas) / std::log(1.0 * high->ctas / low.ctas);
  return low.times.geometric(bytes) * std::pow(after / low.times.geometric(bytes), share);
}

/// The traffic that `ctas` CTAs can request, as a multiple of what the links carry: few CTAs show
/// the former, and the best time the latter.
double demand_of(const CollectiveProfile& entry, int ctas) {
  const auto& rows = entry.by_ctas;
  if (rows.empty()) return 0;
  double best = entry.times.values.back();
  for (const CtaTimes& row : rows) best = std::min(best, row.times.values.back());
  return best / rows.front().times.values.back() * ctas / rows.front().ctas;
}

}  // namespace

double queue_of(const CollectiveProfile& profile, double demand) {
  return profile.queue * demand * demand / (1 + demand);
}

Expected<CollectiveRun> collective_run(const Profile& profile, Collective collective, double bytes,
                                       int ranks, int ctas, Transport transport) {
  if (ranks < 2 || ranks > profile.gpu.count) {
    return bad_input(fmt::format("ranks = {}: {} has {} GPUs; expected 2 to {}", ranks,
                                 profile.name, profile.gpu.count, profile.gpu.count));
  }
  const CollectiveProfile* entry = find(profile, collective, transport, ranks);
  if (entry == nullptr) {
    return bad_input(fmt::format("transport {}: {} has no {} over it", to_string(transport),
                                 profile.name, to_string(collective)));
  }
  // With other ranks than measured, latency grows as the depth of a tree and the rest as the
  // traffic.
  const double traffic = ring_traffic(collective, ranks);
  const double measured_traffic = ring_traffic(collective, entry->ranks);
  const double depth = std::log2(ranks) / std::log2(entry->ranks);
  const double latency = entry->times.values.front();
  const double measured = entry->by_ctas.empty() ? entry->times.linear(bytes)
                          : ctas > 0             ? time_of(*entry, bytes, ctas)
                                                 : entry->times.geometric(bytes);
  const double links = latency * depth + (measured - latency) * traffic / measured_traffic;
  const double wire = bytes * traffic;
  double time = links;
  if (ctas > 0 && entry->by_ctas.empty()) {
    const double senders = wire / (ctas * entry->cta_rates.logarithmic(bytes));
    time = std::pow(std::pow(links, kCtaNorm) + std::pow(senders, kCtaNorm), 1 / kCtaNorm);
  }
  const double best_rate =
      entry->times.bytes.back() * measured_traffic / entry->times.values.back();
  const double demand = demand_of(*entry, ctas > 0 ? ctas : profile.nccl_ctas);
  return CollectiveRun{.time = time,
                       .wire_bytes = wire,
                       .link_load = std::min(1.0, wire / time / best_rate),
                       .latency = std::min(time, latency * depth),
                       .demand = demand,
                       .queue = queue_of(*entry, demand),
                       .profile = entry};
}

}  // namespace overlaptune::sim
