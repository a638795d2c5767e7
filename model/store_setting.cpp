#include "model/store_setting.hpp"

#include <algorithm>
#include <string>

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
  // 8 CTAs of an exchange by peer access fill the links nearly, and do not request more than they
  // carry. Neither do stores that wait for the links.
  const CollectiveKey alike{collective_of(problem.op), problem.ranks, 8, Transport::peer_access};
  const auto probed = parts.collectives.overlap_settings(alike.collective, alike.ranks);
  if (std::none_of(probed.begin(), probed.end(), [](const CollectiveKey& key) {
        return key.transport == Transport::peer_access;
      })) {
    return bad_input("model: no " + std::string(to_string(alike.collective)) + " on " +
                     std::to_string(alike.ranks) +
                     " ranks by peer_access is stored for this platform: run `overlaptune probe "
                     "--ranks " +
                     std::to_string(alike.ranks) + "` first");
  }
  StoreSetting setting{.gemms = *gemms,
                       .rate = *parts.store_rate,
                       .background = background_of(parts, **gemms, problem)};
  setting.slowdown =
      (*gemms)->contention(alike, static_cast<double>(collective_bytes(problem).count), problem.k,
                           GemmFamily::generated);
  setting.feed = (*gemms)->contention.feed()(**generated, problem.k, setting.slowdown.gemm);
  return setting;
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
                    .per_launch = model.per_launch(true),
                    .spread = model.constants().spread,
                    // A slot holds a whole tile. C has no room for what lies outside.
                    .sent = (adds_up ? whole_tile : of_c) / setting.rate,
                    .signal = parts.limits.store_signal.count(),
                    .waits = adds_up,
                    .in_turn = takes_turns(tile, parts.limits),
                    .cuts = {0, order.tiles()}};
  if (problem.op == Op::gemm_all_reduce) made.sum_sent = peers * of_c / setting.rate;
  // Where consumers take turns, the peers' tiles are read and added while the other one multiplies.
  if (adds_up && !made.in_turn) {
    made.add_up = peers * whole_tile * model.constants().per_operand_byte;
  }
  const double sent = made.all_sent();
  const double alone = made.produced(order.tiles());
  const double full =
      std::clamp(setting.slowdown.gemm * setting.feed.gemm_factor(work, model.constants()), 1.0,
                 kLargestGemmSlowdown);
  const double slowdown = 1 + (full - 1) * std::min(1.0, sent / alone);
  made.tile_time *= slowdown * clock_slowdown_beside(parts.clock, problem, setting.background,
                                                     alone, sent, {slowdown, 1});
  return made;
}

}  // namespace overlaptune
