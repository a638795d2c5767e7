#include "model/store_setting.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/staging.hpp"
#include "core/store_order.hpp"

namespace overlaptune {
namespace {

/// The tiles as the model of a GEMM knows them: as one row block, so that a swizzle group has the
/// panels that run together. Row blocks that end within a tile stay apart.
TileOrder walked(const TileOrder& order) {
  TileOrder all = order;
  if (all.block_rows % all.block_m == 0) {
    all.block_rows *= all.blocks;
    all.blocks = 1;
  } else {
    all.raster = std::max(1, all.raster / all.blocks);
  }
  return all;
}

/// Bytes that a rank sends.
double sent_bytes(const Problem& problem) {
  const double times = problem.op == Op::gemm_all_reduce ? 2 : 1;
  return times * static_cast<double>(collective_bytes(problem).count) * (problem.ranks - 1) /
         problem.ranks;
}

/// The exchange by peer access with the fewest CTAs that was probed beside a GEMM. Few CTAs request
/// no more than the links carry, and neither do stores that wait for the links. More CTAs make a
/// queue, in which the GEMM waits.
Expected<CollectiveKey> quiet_exchange(const Model::Parts& parts, const ClassGemms& gemms,
                                       const Problem& problem) {
  const Collective collective = collective_of(problem.op);
  std::optional<CollectiveKey> found;
  for (const CollectiveKey& key : parts.collectives.overlap_settings(collective, problem.ranks)) {
    if (key.transport != Transport::peer_access) continue;
    if (!found || (!gemms.contention.knows(*found) && gemms.contention.knows(key))) found = key;
  }
  if (found) return *found;
  const std::string ranks = std::to_string(problem.ranks);
  return bad_input("model: no " + std::string(to_string(collective)) + " on " + ranks +
                   " ranks by peer_access is stored for this platform: run `overlaptune probe "
                   "--ranks " +
                   ranks + "` first");
}

}  // namespace

Expected<StoreSetting> store_setting(const Model::Parts& parts, const Problem& problem) {
  const auto gemms = parts.gemms_of(problem.dtype);
  if (!gemms) return error_of(gemms);
  const auto generated = (*gemms)->generated_gemm();
  if (!generated) return error_of(generated);
  if (!parts.store_rate) {
    return bad_input(
        "model: no copy into a peer's memory by CTAs is stored for this platform: run `overlaptune "
        "probe` first");
  }
  const auto alike = quiet_exchange(parts, **gemms, problem);
  if (!alike) return error_of(alike);
  const auto bytes = static_cast<double>(collective_bytes(problem).count);
  const Slowdown beside = (*gemms)->contention(*alike, bytes, problem.k, GemmFamily::generated);
  const double time = (*parts.collectives.find(*alike))(bytes)*beside.collective;
  // What traffic adds to the time of a GEMM is in proportion to its bytes.
  const double traffic = sent_bytes(problem) / time;
  const double slowdown =
      std::min(1 + (beside.gemm - 1) * *parts.store_rate / traffic, kLargestGemmSlowdown);
  return StoreSetting{.gemms = *gemms,
                      .rate = *parts.store_rate,
                      .slowdown = slowdown,
                      .background = background_of(parts, **gemms, problem)};
}

StoreProblem store_problem(const Model::Parts& parts, const Problem& problem,
                           const StoreSetting& setting, const Tile& tile, int raster) {
  const GemmModel& model = *setting.gemms->generated;
  const TileOrder order = tile_order(problem, tile, raster);
  const int sms = parts.platform.sms;
  const GemmWork work = model.work(tile, walked(order), problem.k, sms);
  const auto tiles = static_cast<double>(order.tiles());
  const bool adds_up = problem.op != Op::gemm_all_to_all;
  const double whole_tile = static_cast<double>(order.element_bytes) * tile.block_m * tile.block_n;
  const double of_c = static_cast<double>(collective_bytes(problem).count) / tiles;
  const double peers = problem.ranks - 1;

  StoreProblem made{.ranks = problem.ranks,
                    .sms = sms,
                    .tile_time = model.tile_time(work),
                    .per_launch = model.per_launch(true) + parts.limits.store_run.count(),
                    .spread = model.constants().spread,
                    // A slot holds a whole tile. C has no room for what lies outside.
                    .sent = (adds_up ? whole_tile : of_c) / setting.rate,
                    .signal = parts.limits.store_signal.count(),
                    .waits = adds_up,
                    .in_turn = staging_of(tile, parts.limits, problem.dtype).in_turn,
                    .cuts = {0, order.tiles()}};
  if (problem.op == Op::gemm_all_reduce) made.sum_sent = peers * of_c / setting.rate;
  const StoreCosts costs = store_costs(tile, parts.limits, problem.dtype);
  if (adds_up) made.add_up = peers * costs.add.count();
  const double sent = made.all_sent();
  const double alone = made.produced(order.tiles());
  // Stores are spread over the whole GEMM, so the slowdown is that of their mean rate.
  const double slowdown = 1 + (setting.slowdown - 1) * std::min(1.0, sent / alone);
  made.tile_time *= slowdown * clock_slowdown_waiting(parts.clock, problem, setting.background,
                                                      {alone, tile}, sent, {slowdown, 1}, 0);
  made.tile_time += costs.tile.count();
  return made;
}

}  // namespace overlaptune
