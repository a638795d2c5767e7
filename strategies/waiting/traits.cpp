#include "strategies/waiting/traits.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/config/rules.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune {
namespace {

/// Whether the tiles of a problem can push its rows.
Expected<void> tiles_can_push(const Problem& problem, const Waiting& config) {
  if (problem.ranks > kMostRanksOfTiles) {
    return bad_input(
        fmt::format("ctas = 0 by peer_access: {} ranks: tiles push to at most {}: expected ctas "
                    "of 1 or more",
                    problem.ranks, kMostRanksOfTiles));
  }
  if (std::cmp_not_equal(config.wave_groups.size(), row_blocks(problem))) {
    return bad_input(
        fmt::format("groups: {} groups: expected {}, one for the rows of each rank, where tiles "
                    "push (ctas = 0 by peer_access)",
                    config.wave_groups.size(), row_blocks(problem)));
  }
  // Else the warp that pushes could be passed by two tiles, and would wait for a phase of a barrier
  // that is over (docs/kernel-notes.md, "Tiles that push").
  const std::int64_t step = block_k_of(problem.elements);
  const std::int64_t steps = (problem.k + step - 1) / step;
  if (steps < config.tile.stages) {
    return bad_input(
        fmt::format("k = {}: {} steps of {}: where tiles push (ctas = 0 by peer_access) expected "
                    "at least as many as stages, {}: give fewer stages, or ctas of 1 or more",
                    problem.k, steps, step, config.tile.stages));
  }
  return {};
}

}  // namespace

Expected<void> TraitsOf<Waiting>::check(const Waiting& config) {
  if (config.k_chunks > 1 && !may_have_chunks(config.tile)) {
    return bad_input(fmt::format("k_chunks = {}: expected 1 with tile {}", config.k_chunks,
                                 to_string(config.tile)));
  }
  if (!tiles_push(config)) return has_ctas_for(config.transport, config.comm_ctas);
  if (may_push(config.tile)) return {};
  return bad_input(fmt::format(
      "ctas = 0, or none given, by peer_access: tile {} {}: expected {}, or ctas of 1 or more",
      to_string(config.tile),
      config.tile.cluster > 1 ? "of a cluster cannot push"
                              : "has 192 rows of wgmmas, and cannot push",
      config.tile.cluster > 1 ? "cluster=1" : "another tile"));
}

Expected<void> TraitsOf<Waiting>::check(const Problem& problem, const Waiting& config) {
  if (tiles_push(config)) {
    if (auto pushes = tiles_can_push(problem, config); !pushes) return pushes;
  }
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  const auto cuts = arrival_cuts(order, config.wave_groups);
  if (!cuts) return error_of(cuts);
  if (auto few = has_few_groups(cuts->size(), Waiting::name); !few) return few;
  const int most_chunks = kMostRegions / static_cast<int>(cuts->size());
  if (config.k_chunks > most_chunks) {
    return bad_input(fmt::format("k_chunks = {}: expected at most {} with {} groups",
                                 config.k_chunks, most_chunks, cuts->size()));
  }
  if (chunk_columns(problem, config.k_chunks) * (config.k_chunks - 1) >= problem.k) {
    return bad_input(fmt::format(
        "k_chunks = {}: k = {}: expected fewer: in whole steps of {} columns, {} a chunk, the last "
        "one would be empty",
        config.k_chunks, problem.k, block_k_of(problem.elements),
        chunk_columns(problem, config.k_chunks)));
  }
  if (config.transport == Transport::peer_access) return peers_can_move(problem);
  return {};
}

TiledWork TraitsOf<Waiting>::work(const Problem& problem, const Waiting& config) {
  std::vector<Cut> cuts = value_or_throw(
      arrival_cuts(arrival_order(problem, config.tile, config.swizzle), config.wave_groups));
  const TiledKernel kernel{.tile = config.tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(cuts.size()),
                           .waits = true,
                           .tiles_push = tiles_push(config)};
  return {tile_order(problem, config.tile, config.swizzle), std::move(cuts), kernel};
}

// The rank's own row block is one group. The shares are those of each other row block.

int TraitsOf<Waiting>::divided(const Problem& problem) {
  return row_blocks(problem) - 1;
}

std::vector<Share> TraitsOf<Waiting>::shares(const Problem& problem, const Waiting& config) {
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  std::vector<Share> all;
  std::vector<std::int64_t> of_block;
  std::int64_t end = 0;
  for (const std::int64_t tiles : config.wave_groups) {
    const bool is_own = end == 0;
    end += tiles;
    if (is_own) continue;
    of_block.push_back(tiles);
    if (end % order.block.tiles() != 0) continue;
    const std::vector<Share> shares = shares_of(of_block);
    all.insert(all.end(), shares.begin(), shares.end());
    of_block.clear();
  }
  return all;
}

void TraitsOf<Waiting>::fit(const Problem& problem, Waiting& config, std::span<const Share> shares,
                            int /*sms*/) {
  config.swizzle = most_swizzle(problem, config.tile, config.swizzle);
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  const std::int64_t swizzles = order.block.swizzle_groups();
  config.wave_groups = {order.block.tiles()};
  std::int64_t before = order.block.tiles();
  std::int64_t end = kWholeShare;  // the rank's own rows
  for (const Share share : shares) {
    end += share;
    const auto block = static_cast<int>((end - 1) / kWholeShare);
    const std::int64_t in_block = end - std::int64_t{kWholeShare} * block;
    const std::int64_t wanted = (2 * swizzles * in_block + kWholeShare) / (2 * kWholeShare);
    const std::int64_t tiles = arrival_cut(order, block, wanted).tiles;
    if (tiles <= before) continue;
    config.wave_groups.push_back(tiles - before);
    before = tiles;
  }
}

}  // namespace overlaptune
