#include "strategies/waiting/simulation.hpp"

#include <algorithm>

#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::sim {
namespace {

/// The copy of one piece to one peer, and its flag. The first one also meets the peer.
PlannedCollective plan_copy(const CopyProfile& copy, double bytes, bool first) {
  const double latency = copy.piece + (first ? copy.meet : 0);
  const double moving = bytes / copy.engine_rate;
  return {.run = {.time = latency + moving,
                  .wire_bytes = bytes,
                  .link_load = moving / (latency + moving),
                  .latency = latency,
                  .queue = copy.queue}};
}

/// An all_gather by peer access in which each rank receives so many bytes.
Expected<CollectiveRun> pushed(const Profile& profile, const Problem& problem, double received,
                               int ctas) {
  const double whole = received * problem.ranks / (problem.ranks - 1);
  return collective_run(profile, Collective::all_gather, whole, problem.ranks, ctas,
                        Transport::peer_access);
}

/// One of `chunks` of the columns of a group of rows: each takes its part of the time in which the
/// group moves as a whole.
Expected<PlannedCollective> plan_push(const Profile& profile, const Problem& problem, double bytes,
                                      int ctas, int chunks) {
  const auto run = pushed(profile, problem, bytes, ctas);
  if (!run) return error_of(run);
  CollectiveRun piece = as_group(profile, *run);
  piece.time = piece.latency + (piece.time - piece.latency) / chunks;
  piece.wire_bytes /= chunks;
  return PlannedCollective{.run = piece};
}

/// For how long its stores hold a tile up that pushes (docs/results/kernels.md, "Tiles that push").
double held_by_stores(const ArrivalOrder& order) {
  constexpr double kStored = 1e5;  // bytes per microsecond
  return bytes_of_pusher(order) / kStored;
}

/// Chunk after chunk of the rows that tiles push, to all peers side by side: as fast as the tiles
/// load them, or as the links carry them. A peer has them somewhat later, as at the end of a
/// collective.
Expected<void> plan_tile_pushes(const Profile& profile, const Problem& problem,
                                const ArrivalOrder& order, const GemmKernel& kernel, int chunks,
                                Schedule& schedule) {
  constexpr int kCtasOfLinks = 16;  // fill them
  const int pushers = std::min(pushers_at_once(order.block, kernel.sms), kCtasOfLinks);
  constexpr double kCount = 1;  // of a chunk at the peers
  const double received =
      static_cast<double>(order.row_bytes * order.block.block_rows) * (order.blocks - 1);
  const auto whole = pushed(profile, problem, received, pushers);
  if (!whole) return error_of(whole);
  const PeerProfile apart = taken_once(profile, *whole);
  const double held = held_by_stores(order);
  const double tile = tile_times(profile, kernel).whole;
  const double moving = whole->time - whole->latency;
  const double both = std::max(tile + held, moving);
  const auto waves =
      static_cast<double>(tiles_before_pushers(order.block, kernel.sms) / kernel.sms);
  const double before = waves * (tile + held * part_that_pushes(order.block));
  schedule.tiles_push = true;
  schedule.peer = PeerProfile{.start = apart.start + apart.finish};
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int peer = 1; peer < order.blocks; ++peer) {
      CollectiveRun run = *whole;
      // Steps go to all peers side by side: the first one has the time of all.
      run.time = peer > 1 ? 0 : std::max(kCount, both / chunks) + (chunk == 0 ? before : 0);
      run.wire_bytes = received / chunks / (order.blocks - 1);
      run.queue = queue_of(*whole->profile, pushers * moving / (kCtasOfLinks * both));
      schedule.collectives.push_back({.run = run});
    }
  }
  return {};
}

/// The tiles that run at once have the panels of one row block. A row block that ends within a
/// tile has panels of its own, some of them partly empty.
TileOrder at_once(const ArrivalOrder& order) {
  TileOrder tiles = order.block;
  tiles.blocks = order.blocks;
  return walked_together(tiles);
}

/// The tiles of one row block after the other.
TileSchedule tiles_of(const GemmKernel& kernel, const TileTimes& times, const ArrivalOrder& order,
                      const std::vector<Cut>& cuts) {
  const std::int64_t of_block = order.block.tiles();
  TileSchedule all{.sms = kernel.sms, .start = times.kernel_start};
  std::size_t cut = 0;
  for (int block = 0; block < order.blocks; ++block) {
    std::vector<std::int64_t> ends;
    for (; cut < cuts.size() && cuts[cut].tiles <= (block + 1) * of_block; ++cut) {
      ends.push_back(cuts[cut].tiles - block * of_block);
    }
    const TileSchedule own = tile_schedule(kernel, times, ends);
    for (const std::size_t runs : own.group_runs) {
      all.group_runs.push_back(all.runs.size() + runs);
    }
    all.runs.insert(all.runs.end(), own.runs.begin(), own.runs.end());
  }
  return all;
}

}  // namespace

Expected<Schedule> SimulationOf<Waiting>::schedule(const Profile& profile, const Work& work) {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<Waiting>();
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  GemmKernel kernel{.order = at_once(order),
                    .k = problem.k,
                    .tile = config.tile,
                    .sms = profile.gpu.sms - config.comm_ctas,
                    .shares_tiles = shares_tiles(config.transport)};
  Schedule schedule{.coupling = Coupling::waiting};
  const std::vector<Cut>& cuts = work.tiled().cuts;
  const bool by_tiles = tiles_push(config);
  const bool by_peers = config.transport == Transport::peer_access && !by_tiles;
  if (by_peers) {
    const auto received = static_cast<double>((cuts.back().bytes - cuts.front().bytes).count);
    const auto whole = pushed(profile, problem, received, config.comm_ctas);
    if (!whole) return error_of(whole);
    schedule.peer = taken_once(profile, *whole);
  }
  const int ctas = ctas_of_tile(profile, kernel);
  schedule.needed_after.clear();
  for (int chunk = 0; chunk < config.k_chunks; ++chunk) {
    schedule.needed_after.push_back(needs_chunk_after(chunk, config.k_chunks, ctas));
  }
  if (by_tiles) {
    auto planned = plan_tile_pushes(profile, problem, order, kernel, config.k_chunks, schedule);
    if (!planned) return error_of(planned);
  }
  for (std::size_t i = 0; !by_tiles && i < (cuts.size() - 1) * schedule.needed_after.size(); ++i) {
    const std::size_t group = 1 + i % (cuts.size() - 1);
    const auto bytes = static_cast<double>((cuts[group].bytes - cuts[group - 1].bytes).count);
    if (!by_peers) {
      schedule.collectives.push_back(plan_copy(profile.copy, bytes / config.k_chunks, i == 0));
      continue;
    }
    const auto piece = plan_push(profile, problem, bytes, config.comm_ctas, config.k_chunks);
    if (!piece) return error_of(piece);
    schedule.collectives.push_back(*piece);
  }
  const TileTimes times = tile_times(profile, kernel);
  kernel.order = order.block;
  TileSchedule tiles = tiles_of(kernel, times, order, cuts);
  if (by_tiles) {
    // All own tiles alike, though not all of them push.
    const double held = held_by_stores(order) * part_that_pushes(order.block);
    for (std::size_t run = 0; run < tiles.group_runs.front(); ++run) tiles.runs[run].time += held;
  }
  schedule.gemms.push_back({.times = times, .schedule = std::move(tiles)});
  return schedule;
}

}  // namespace overlaptune::sim
