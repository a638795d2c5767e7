#include "strategies/peer_store/model_setting.hpp"

#include <algorithm>
#include <string>

#include "core/config/staging.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune {
namespace {

/// Loss of a wave whose tiles are all of peers, or all own ones, relative. From 2 H100: K = 3584,
/// groups of one wave and of more.
constexpr double kApart = 0.015;

/// `StoreProblem::ahead`. With 2, groups of several waves were predicted up to 12 % too fast on 2
/// H200 (docs/results/model-notes.md).
constexpr double kWavesAhead = 1.4;

/// Share of their time that the links lose beside a GEMM that takes as long; beside a shorter one
/// by the square, because the links wait for tiles only where tiles come hardly faster than they
/// leave. One peer: from 2 H200 with permits; each further one: from 4 H200, without them
/// (docs/results/model-notes.md).
constexpr double kBesideShare = 0.12;
constexpr double kBesideShareOfPeer = 0.05;

/// Share of their time that the links lose for each peer beyond the first: tiles of several ranks
/// meet on the way to one owner, but the probe of stores has a single peer. From 4 H200.
constexpr double kMeetingShare = 0.025;

/// Peers up to which costs of each peer were measured; more are taken to cost no more.
constexpr double kMeasuredPeers = 3;

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
  const auto probed =
      std::ranges::find(settings, Transport::peer_access, &CollectiveKey::transport);
  if (probed != settings.end()) return {};
  const std::string ranks = std::to_string(problem.ranks);
  return bad_input("model: no " + std::string(to_string(collective)) + " on " + ranks +
                   " ranks by peer_access is stored for this platform: run `overlaptune probe "
                   "--ranks " +
                   ranks + "` first");
}

}  // namespace

Expected<StoreSetting> store_setting(const Model::Parts& parts, const Problem& problem) {
  const auto gemms = parts.generated_gemms_of(problem.elements);
  if (!gemms) return error_of(gemms);
  if (!parts.store_rate) {
    return bad_input(
        "model: no copy into a peer's memory by CTAs is stored for this platform: run `overlaptune "
        "probe` first");
  }
  if (auto probed = check_peer_access(parts, problem); !probed) return error_of(probed);
  return StoreSetting{.gemms = *gemms,
                      .rate = *parts.store_rate,
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
                    .ahead = kWavesAhead,
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
  made.tile_time *=
      clock_slowdown_waiting(parts.clock, problem, setting.background, {alone, tile}, sent, {}, 0);
  made.apart = kApart * made.tile_time;
  made.tile_time += costs.tile;
  // The first tile is multiplied while the links have nothing to carry.
  const double beside = made.produced(order.tiles()) - made.produced(1);
  const double share = std::min(1.0, beside / sent);
  const double further = measured_peers - 1;
  const double longer =
      1 + (kBesideShare + kBesideShareOfPeer * further) * share * share + kMeetingShare * further;
  made.sent *= longer;
  made.sum_sent *= longer;
  return made;
}

}  // namespace overlaptune
