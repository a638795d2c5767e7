#include "strategies/peer_store/model_setting.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/config/staging.hpp"
#include "core/statistics.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune {
namespace {

/// Loss of a wave whose tiles are all of peers, or all own ones, relative. From 2 H100: K = 3584,
/// groups of one wave and of more.
constexpr double kApart = 0.015;

/// Share of their time that the links lose beside a GEMM that takes as long; beside a shorter one
/// by the square, because the links wait for tiles only where tiles come hardly faster than they
/// leave. From 2 H100 and 2 and 4 H200 (docs/results/model-notes.md).
constexpr double kBesideShare = 0.22;

/// Share of their time that the links lose for each peer beyond the first: tiles of several ranks
/// meet on the way to one owner, but the probe of stores has a single peer. From 4 H200.
constexpr double kMeetingShare = 0.025;

/// Peers up to which costs of each peer were measured; more are taken to cost no more.
constexpr double kMeasuredPeers = 3;

/// Cost to a GEMM of stores from shared memory, as a share of the cost of an exchange that sends as
/// much: the exchange also reads all that it sends from memory. From the times of `peer_store` on 2
/// H100, K = 1024 and 3584.
constexpr double kStoredShare = 0.35;

/// An exchange by peer access beside a GEMM.
struct Beside {
  double rate = 0;      ///< bytes that a rank sends per microsecond
  double slowdown = 1;  ///< of the GEMM
  int ctas = 0;
};

/// The exchanges of a collective that were probed.
std::vector<Beside> probed_exchanges(const Model::Parts& parts, const ClassGemms& gemms,
                                     Collective collective, int ranks, std::int64_t k) {
  constexpr double kBytes = 16 << 20;  // those that are probed beside a GEMM
  const double times = collective == Collective::all_reduce ? 2 : 1;
  const double sent = times * kBytes * (ranks - 1) / ranks;
  std::vector<Beside> list;
  for (const CollectiveKey& key : parts.collectives.overlap_settings(collective, ranks)) {
    if (key.transport != Transport::peer_access || !gemms.contention.knows(key)) continue;
    const Slowdown beside = gemms.contention(key, kBytes, k, GemmFamily::generated);
    const double time = (*parts.collectives.find(key))(kBytes)*beside.collective;
    list.push_back({.rate = sent / time, .slowdown = beside.gemm, .ctas = key.comm_ctas});
  }
  return list;
}

/// Time that traffic over the links adds to a GEMM, relative, for each byte that a rank sends per
/// microsecond. It is the median over all exchanges by peer access beside which a GEMM was probed,
/// because one probe of a GEMM is often off by its clock. An exchange whose CTAs each send much
/// less than those of another one makes a queue, in which the GEMM waits; it is left out, because
/// stores that wait for the links make none.
double cost_of_traffic(const Model::Parts& parts, const ClassGemms& gemms, const Problem& problem) {
  constexpr double kLeastShare = 0.8;
  std::vector<double> costs;
  for (const Named<Collective>& collective : NamesOf<Collective>::all) {
    const auto list = probed_exchanges(parts, gemms, collective.value, problem.ranks, problem.k);
    double best = 0;
    for (const Beside& each : list) best = std::max(best, each.rate / each.ctas);
    for (const Beside& each : list) {
      if (each.rate / each.ctas < kLeastShare * best) continue;
      costs.push_back((each.slowdown - 1) / each.rate);
    }
  }
  return costs.empty() ? 0 : quantile(costs, 0.5);
}

/// Times that storing at the owners adds to each tile, and that adding the tile of one peer adds to
/// an own tile.
struct StoreCosts {
  double tile = 0;
  double add = 0;
};
StoreCosts store_costs(const Staging& staging, const UnprobedCosts& costs) {
  // Where consumers take turns, most of it passes while the other one multiplies; not so with a
  // single buffer, because each subtile then waits for its load (tests/bench/peer_store_bench).
  constexpr double kShown = 0.4;
  const double shown = staging.subtiles * (staging.ping_pong && staging.buffers > 1 ? kShown : 1.0);
  return {shown * costs.store_subtile.count(), shown * costs.store_add.count()};
}

/// Error: none of the problem's collective by peer access was probed on as many ranks.
Expected<void> check_peer_access(const Model::Parts& parts, const Problem& problem) {
  const Collective collective = collective_of(problem.op);
  const auto settings = parts.collectives.overlap_settings(collective, problem.ranks);
  const bool probed = std::any_of(settings.begin(), settings.end(), [](const CollectiveKey& key) {
    return key.transport == Transport::peer_access;
  });
  if (probed) return {};
  const std::string ranks = std::to_string(problem.ranks);
  return bad_input("model: no " + std::string(to_string(collective)) + " on " + ranks +
                   " ranks by peer_access is stored for this platform: run `overlaptune probe "
                   "--ranks " +
                   ranks + "` first");
}

}  // namespace

Expected<StoreSetting> store_setting(const Model::Parts& parts, const Problem& problem) {
  const auto gemms = parts.gemms_of(problem.elements);
  if (!gemms) return error_of(gemms);
  const auto generated = (*gemms)->generated_gemm();
  if (!generated) return error_of(generated);
  if (!parts.store_rate) {
    return bad_input(
        "model: no copy into a peer's memory by CTAs is stored for this platform: run `overlaptune "
        "probe` first");
  }
  if (auto probed = check_peer_access(parts, problem); !probed) return error_of(probed);
  const double traffic =
      kStoredShare * cost_of_traffic(parts, **gemms, problem) * *parts.store_rate;
  const double slowdown = std::min(1 + traffic, kLargestGemmSlowdown);
  return StoreSetting{.gemms = *gemms,
                      .rate = *parts.store_rate,
                      .slowdown = slowdown,
                      .background = background_of(parts, **gemms, problem)};
}

StoreProblem store_problem(const Model::Parts& parts, const Problem& problem,
                           const StoreSetting& setting, const Tile& tile, int swizzle) {
  const GemmModel& model = *setting.gemms->generated;
  const TileOrder order = tile_order(problem, tile, swizzle);
  const int sms = parts.platform.sms;
  const GemmWork work = model.work(tile, walked_together(order), problem.k, sms);
  const auto tiles = static_cast<double>(order.tiles());
  const bool adds_up = traits_of(problem.op).sums;
  const double whole_tile =
      static_cast<double>(result_bytes(order.elements)) * tile.block_m * tile.block_n;
  const double of_c = static_cast<double>(collective_bytes(problem).count) / tiles;
  const double peers = problem.ranks - 1;
  const double measured_peers = std::min(peers, kMeasuredPeers);

  const Staging staging = staging_of(tile, parts.limits, problem.elements);
  StoreProblem made{.ranks = problem.ranks,
                    .sms = sms,
                    .tile_time = model.tile_time(work),
                    .per_launch = model.per_launch(true) + parts.costs.store_run.count(),
                    .spread = model.constants().spread,
                    // A slot holds a whole tile. C has no room for what lies outside.
                    .sent = (adds_up ? whole_tile : of_c) / setting.rate,
                    .signal = parts.costs.store_signal.count(),
                    .waits = adds_up,
                    .held = staging.held(),
                    .own_later = own_tiles_come_later(problem),
                    .ping_pong = staging.ping_pong,
                    .cuts = {0, order.tiles()}};
  if (traits_of(problem.op).in_place()) {
    made.sum_sent = peers * of_c / setting.rate;
    made.gap = measured_peers * parts.costs.store_gap.count();
  }
  const StoreCosts costs = store_costs(staging, parts.costs);
  if (adds_up) {
    made.add_up = peers * costs.add;
    made.receive = parts.costs.store_receive.count();
    made.last = measured_peers * parts.costs.store_last.count();
  }
  const double sent = made.all_sent();
  const double alone = made.produced(order.tiles());
  // Stores are spread over the whole GEMM, so the slowdown is that of their mean rate.
  const double slowdown = 1 + (setting.slowdown - 1) * std::min(1.0, sent / alone);
  made.tile_time *= slowdown * clock_slowdown_waiting(parts.clock, problem, setting.background,
                                                      {alone, tile}, sent, {slowdown, 1}, 0);
  made.apart = kApart * made.tile_time;
  made.tile_time += costs.tile;
  // The first tile is multiplied while the links have nothing to carry.
  const double beside = made.produced(order.tiles()) - made.produced(1);
  const double share = std::min(1.0, beside / sent);
  const double longer = 1 + kBesideShare * share * share + kMeetingShare * (measured_peers - 1);
  made.sent *= longer;
  made.sum_sent *= longer;
  return made;
}

}  // namespace overlaptune
