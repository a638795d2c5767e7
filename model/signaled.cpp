// `signaled`: one GEMM of ours, on all SMs for the first group and on SMs - comm_ctas from then on
// (comm_ctas 0: on all, which it hands over tile by tile); each wave group's collective starts on
// its signal.

#include "model/signaled.hpp"

#include <algorithm>

namespace overlaptune {
namespace signaled {
namespace {

/// Groups are of unlike sizes: contention is taken at a typical one, a quarter of the whole.
constexpr double kTypicalGroups = 4;

/// With peer access one kernel takes all groups: what another one costs it (on 4 H200, eight groups
/// of 8 KiB against one of 64), and as long it takes to see a signal that it looks for.
constexpr double kPeerGap = 1.5;

/// What the smallest exchange takes but for that counts once: half of it to start and to meet the
/// peers, which only the first group waits for, half to part from them.
void be_one_kernel(Exchange& exchange) {
  exchange.shared = std::max(0.0, (*exchange.curve)(0) - kPeerGap);
  exchange.first_more = exchange.shared / 2 + std::max(0.0, exchange.rates.trigger - kPeerGap);
  exchange.drain = exchange.shared / 2;
  exchange.least_time_per_byte =
      exchange.curve->least_time_per_byte(exchange.bytes, exchange.shared);
  exchange.least_time -= exchange.shared;
  exchange.reorder = {};
  exchange.rates.trigger = std::min(exchange.rates.trigger, kPeerGap);
  exchange.rates.gap = 0;
}

double gemm_time_beside(const ClockedGemm& gemm, std::int64_t tiles) {
  return gemm.first(tiles) * gemm.rates.producer_slowdown;
}

/// How much of the copies comes before the GEMM ends depends on where it is cut. Taken for typical
/// groups: the first is there after its part of the GEMM, and each copy comes after its collective.
Reorder reorder_of(const Exchange& exchange, const ClockedGemm& gemm, std::int64_t tiles) {
  Reorder reorder = exchange.reorder;
  const double alone = exchange.whole + exchange.bytes * reorder.last_per_byte;
  const double after_first = gemm_time_beside(gemm, tiles) * (1 - 1 / kTypicalGroups);
  const double beside = std::clamp(after_first / alone - 1 / kTypicalGroups, 0.0, 1.0);
  reorder.per_byte += (1 - beside) * (reorder.last_per_byte - reorder.per_byte);
  return reorder;
}

/// What own parts that were not moved in time take when the GEMM has ended.
double left_to_move(const Exchange& exchange, const ClockedGemm& gemm, std::int64_t tiles) {
  if (exchange.move_after == 0) return 0;
  const double runs = gemm_time_beside(gemm, tiles);
  return std::max(0.0, exchange.bytes - runs / exchange.move_beside) * exchange.move_after;
}

}  // namespace

Exchange exchange(const Model::Parts& parts, const Problem& problem, const CollectiveKey& key,
                  const Curve& curve, Wait wait, Launch launch, const Company& company) {
  const auto bytes = static_cast<double>(collective_bytes(problem).count);
  const Slowdown slowdown =
      parts.contention(key, bytes / kTypicalGroups, problem.k, GemmFamily::ours);
  const int received = received_divisor(problem);
  const double trigger = parts.launch.trigger_of(wait, launch);
  Exchange side{.key = key,
                .transport = key.transport,
                .wait = wait,
                .curve = &curve,
                .bytes = bytes,
                .whole = curve(bytes),
                .least_time_per_byte = curve.least_time_per_byte(bytes),
                .least_time = curve(0),
                .reorder = {.start = parts.launch.kernel_gap,
                            .per_byte = parts.launch.reorder_beside(key.comm_ctas) / received,
                            .last_per_byte = parts.launch.reorder_per_byte / received},
                .start = parts.launch.start(launch),
                .rates = {.producer_slowdown = slowdown.gemm,
                          .consumer_slowdown = slowdown.collective,
                          .trigger = trigger,
                          // A wait takes its time even for a signal that is there.
                          .gap = parts.launch.kernel_gap + trigger},
                // A GEMM that has to hand over SMs is not slowed for want of operands.
                .feed = key.comm_ctas == 0
                            ? Feed{}
                            : parts.contention.feed()(*parts.tiled, problem.k, slowdown.gemm),
                .sms = parts.platform.sms - key.comm_ctas,
                .all_sms = parts.platform.sms,
                .company = company};
  if (key.transport == Transport::peer_access) be_one_kernel(side);
  return side;
}

std::optional<Exchange> exchange_by_copies(const Model::Parts& parts, const Problem& problem,
                                           const CollectiveKey& key, const Curve& curve,
                                           Launch launch, const Company& company) {
  CollectiveKey with_all_sms = key;
  with_all_sms.comm_ctas = 0;
  const CopyRow* row = parts.collectives.find_row(with_all_sms);
  if (row == nullptr) return std::nullopt;
  const Curve& last = row->last;
  Exchange side = exchange(parts, problem, key, curve, Wait::driver, launch, company);
  side.move_beside = side.whole * side.rates.consumer_slowdown / side.bytes;
  side.move_after = parts.launch.reorder_per_byte / problem.ranks;
  side.curve = &row->curve;
  side.last = &row->last;
  side.whole = last(side.bytes);
  side.shared = row->drain;
  side.drain = row->drain;
  side.least_time_per_byte = std::min(last.least_time_per_byte(side.bytes, side.drain),
                                      row->curve.least_time_per_byte(side.bytes, side.drain));
  side.least_time = std::min(last(0), row->curve(0)) - side.drain;
  // Copies go on as if alone; own parts that do not keep up come last.
  side.rates.consumer_slowdown = 1;
  side.feed.collective_share = 0;
  return side;
}

Exchange with_ring_at_last(Exchange exchange, const Curve& last) {
  exchange.transport = Transport::symmetric_then_ring;
  exchange.last = &last;
  exchange.least_time_per_byte =
      std::min(exchange.least_time_per_byte, last.least_time_per_byte(exchange.bytes));
  exchange.least_time = std::min(exchange.least_time, last(0));
  return exchange;
}

OverlapRates rates_beside(const Exchange& exchange, const Tile& tile, double fed_slower) {
  OverlapRates rates = exchange.rates;
  rates.producer_slowdown =
      std::clamp(rates.producer_slowdown * fed_slower, 1.0, kLargestGemmSlowdown);
  rates.consumer_slowdown =
      std::max(1.0, rates.consumer_slowdown * exchange.feed.collective_factor(tile));
  return rates;
}

GemmWork work_beside(const Model::Parts& parts, const Exchange& exchange, const Tile& tile,
                     const TileOrder& order, std::int64_t k) {
  GemmWork work = parts.tiled->work(tile, order, k, exchange.sms);
  work.persistent = exchange.key.comm_ctas > 0;
  return work;
}

ClockedGemm clocked(const Model::Parts& parts, const Problem& problem, const GemmWork& work,
                    double tile_time, const Exchange& exchange) {
  const GemmModel& model = *parts.tiled;
  const double slower = exchange.feed.gemm_factor(work, model.constants());
  const OverlapRates rates = rates_beside(exchange, work.tile, slower);
  const double whole = model.produced(tile_time, work.order.tiles(), work.sms, work.persistent);
  const double clock =
      clock_slowdown_beside(parts.clock, problem, exchange.company, whole, exchange.whole,
                            {rates.producer_slowdown, rates.consumer_slowdown});
  ClockedGemm gemm{.tile_time = tile_time * clock,
                   .per_launch = model.per_launch(work.persistent),
                   .spread = model.constants().spread,
                   .sms = work.sms,
                   .all_sms = exchange.all_sms,
                   .fed_slower = slower,
                   .rates = rates};
  // Where collectives have no SMs of their own each group waits for some, besides its trigger.
  if (!work.persistent) {
    gemm.rates.trigger += until_handed_over(rates.producer_slowdown, gemm.tile_time);
  }
  return gemm;
}

std::vector<CutPoint> cut_points(const std::vector<Cut>& cuts) {
  std::vector<CutPoint> points{{}};
  points.reserve(cuts.size() + 1);
  for (const Cut& cut : cuts) {
    points.push_back({.bytes = static_cast<double>(cut.bytes.count), .contiguous = cut.contiguous});
  }
  return points;
}

PartitionProblem partition_problem(const Exchange& exchange, const ClockedGemm& gemm,
                                   const std::vector<Cut>& cuts, std::span<const CutPoint> points) {
  return {.start = exchange.start,
          .cuts = points,
          .collective = exchange.curve,
          .last = exchange.last,
          .least_last = left_to_move(exchange, gemm, cuts.back().tiles),
          .shared = exchange.shared,
          .first_more = exchange.first_more,
          .reorder = reorder_of(exchange, gemm, cuts.back().tiles),
          .rates = gemm.rates,
          .produced = [&gemm, &cuts](std::size_t first, std::size_t cut) {
            return gemm.until(cuts[cut - 1].tiles, cuts[first - 1].tiles);
          }};
}

}  // namespace signaled

Expected<Prediction> predict_signaled(const Model::Parts& parts, const Problem& problem,
                                      const Config& config, Launch launch) {
  using namespace signaled;
  if (!is_supported(problem.op)) {
    return bad_input("config: signaled needs the GEMM before the collective, not " +
                     std::string(to_string(problem.op)));
  }
  if (!parts.tiled) {
    return bad_input(
        "model: no GEMM with a given tile is stored for this platform: probe it first");
  }
  if (!is_feasible(config.tile, parts.limits)) {
    return bad_input("config: tile " + to_string(config.tile) + " with " +
                     std::to_string(config.tile.stages) + " stages does not fit this GPU");
  }
  const auto kernel = kernel_of(problem, config);
  if (kernel && kernel->regions > kMostRegions) {
    return bad_input("config: wave_groups: " + std::to_string(kernel->regions) +
                     " regions of C: expected at most " + std::to_string(kMostRegions));
  }
  Config beside = config;
  beside.transport = beside_gemm(config.transport);
  const auto curve = probed_curve(parts, problem, beside);
  if (!curve) return tl::make_unexpected(curve.error());
  const int least = needs_ctas(config) ? 1 : 0;
  if (config.comm_ctas < least || config.comm_ctas >= parts.platform.sms) {
    return bad_input("config: comm_ctas = " + std::to_string(config.comm_ctas) +
                     ": signaled needs " + std::to_string(least) + " to " +
                     std::to_string(parts.platform.sms - 1));
  }
  const CollectiveKey key{collective_of(problem.op), problem.ranks, config.comm_ctas,
                          beside.transport};
  if (config.comm_ctas == 0 && !parts.contention.knows(key)) {
    return bad_input(
        "config: comm_ctas = 0: no such collective beside a GEMM is stored for this platform: "
        "probe it first");
  }
  if (config.wait == Wait::kernel && !parts.launch.kernel_trigger) {
    return bad_input(
        "config: wait = kernel: launch cost 'kernel_trigger' is not stored for this platform: "
        "probe it first");
  }
  const Company company = company_of(parts, problem);
  Exchange side = exchange(parts, problem, key, **curve, config.wait, launch, company);
  if (config.transport == Transport::copy_engine) {
    auto copies = exchange_by_copies(parts, problem, key, **curve, launch, company);
    if (!copies) {
      return bad_input(
          "model: no exchange by copy engines with all SMs is stored for this "
          "platform: probe it first");
    }
    side = *copies;
  } else if (config.transport == Transport::symmetric_then_ring) {
    const auto last = probed_curve(parts, problem, {.transport = Transport::ring});
    if (!last) return tl::make_unexpected(last.error());
    side = with_ring_at_last(side, **last);
  }
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  const GemmWork work = work_beside(parts, side, config.tile, order, problem.k);
  const auto cuts = group_cuts(work.order, config);
  if (!cuts) return tl::make_unexpected(cuts.error());
  const auto allowed = [&](const Cut& cut) { return allows(config.transport, cut); };
  if (!std::all_of(cuts->begin(), cuts->end(), allowed)) {
    return bad_input("config: wave_groups: transport copy_engine needs groups of whole rows");
  }

  const ClockedGemm gemm = clocked(parts, problem, work, parts.tiled->tile_time(work), side);
  const std::vector<CutPoint> points = cut_points(*cuts);
  const PartitionProblem partition = partition_problem(side, gemm, *cuts, points);
  std::vector<std::size_t> ends(cuts->size());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = i + 1;

  Prediction prediction;
  const std::vector<Piece> groups = pieces(partition, ends);
  prediction.timeline = overlap(side.start, groups, partition.rates);
  GroupTimes& last = prediction.timeline.groups.back();
  last.end += us(side.drain);
  last.exposed += us(side.drain);
  prediction.time = last.end;
  for (const Piece& piece : groups) {
    prediction.gemm_alone += us(piece.production);
    prediction.collective_alone += us(piece.consumption);
  }
  prediction.collective_alone += us(side.drain);
  return prediction;
}

}  // namespace overlaptune
