#include "strategies/signaled/model_gemm.hpp"

namespace overlaptune::signaled {

WholeProblem whole_problem(const ClockedGemm& gemm, const GroupCollectives& groups,
                           double produced) {
  return {.start = groups.start,
          .first = gemm.first(1),
          .produced = produced,
          .bytes = groups.bytes,
          .collective = groups.curve,
          .last = groups.last,
          .shared = groups.shared,
          .first_more = groups.first_more,
          .least = groups.least,
          .rates = gemm.rates};
}

OverlapRates rates_beside(const GroupCollectives& groups, const Tile& tile, double fed_slower) {
  OverlapRates rates = groups.rates;
  rates.producer_slowdown =
      std::clamp(rates.producer_slowdown * fed_slower, 1.0, kLargestGemmSlowdown);
  rates.consumer_slowdown =
      std::max(1.0, rates.consumer_slowdown * groups.feed.collective_factor(tile));
  return rates;
}

GemmWork work_beside(const GroupCollectives& groups, const Tile& tile, const TileOrder& order,
                     std::int64_t k) {
  GemmWork work = groups.gemms->generated->work(tile, order, k, groups.sms);
  work.persistent = groups.key.comm_ctas != kHandedOver;
  return work;
}

ClockedGemm clocked(const ClockModel& clock, const Problem& problem, const GemmWork& work,
                    double tile_time, const GroupCollectives& groups) {
  const GemmModel& model = *groups.gemms->generated;
  const double slower = groups.feed.gemm_factor(work, model.constants());
  const OverlapRates rates = rates_beside(groups, work.tile, slower);
  const double whole = model.produced(tile_time, work.order.tiles(), work.sms, work.persistent);
  const double slowdown =
      clock_slowdown_beside(clock, problem, groups.background, {whole, work.tile}, groups.whole,
                            {rates.producer_slowdown, rates.consumer_slowdown});
  ClockedGemm gemm{.tile_time = tile_time * slowdown,
                   .per_launch = model.per_launch(work.persistent),
                   .spread = model.constants().spread,
                   .sms = work.sms,
                   .all_sms = groups.all_sms,
                   .fed_slower = slower,
                   .rates = rates};
  // If collectives have no SMs of their own, each group waits for some besides its trigger.
  if (!work.persistent) {
    gemm.rates.trigger += until_handed_over(rates.producer_slowdown, gemm.tile_time);
  }
  return gemm;
}

}  // namespace overlaptune::signaled
