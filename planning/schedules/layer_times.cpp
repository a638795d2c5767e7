#include "planning/schedules/layer_times.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace overlaptune {

LayerTimes::LayerTimes(std::span<const Measurement> measurements) {
  for (const Measurement& each : measurements) {
    const auto* probe = std::get_if<LayerProbe>(&each.probe);
    if (probe != nullptr) times_[{probe->work, probe->ranks}][probe->amount] = each.time;
  }
}

bool LayerTimes::has(LayerWork work) const {
  const auto found = times_.lower_bound({work, 0});
  return found != times_.end() && found->first.first == work;
}

std::optional<Cost> LayerTimes::time(const LayerProbe& probe, const Doubt& beyond,
                                     double us_per_amount) const {
  const auto found = times_.find({probe.work, probe.ranks});
  if (found == times_.end()) return std::nullopt;
  const auto& times = found->second;
  const auto above = times.lower_bound(probe.amount);
  const auto cost = [](double us, double p10, double p90, const char* source) {
    return Cost{us, source, {.low = p10 / us, .high = p90 / us}};
  };
  if (above != times.end() && above->first == probe.amount) {
    const Summary& time = above->second;
    return cost(time.median.count(), time.p10.count(), time.p90.count(), kLayerMeasured);
  }
  const auto amount = static_cast<double>(probe.amount);
  if (above == times.begin() || above == times.end()) {
    const auto nearest = above == times.end() ? std::prev(above) : above;
    if (times.size() > 1) {
      const auto next = above == times.end() ? std::prev(nearest) : std::next(nearest);
      us_per_amount = (next->second.median - nearest->second.median).count() /
                      static_cast<double>(next->first - nearest->first);
    }
    const double there = nearest->second.median.count();
    const auto from = static_cast<double>(nearest->first);
    // Less work takes its share at least, and more work no less time, whatever noise says.
    const double least = there * std::min(1.0, amount / from);
    return Cost{std::max(least, there + us_per_amount * (amount - from)), kLayerExtrapolated,
                beyond};
  }
  const auto& [less, shorter] = *std::prev(above);
  const auto& [more, longer] = *above;
  const auto x0 = static_cast<double>(less);
  const double way = std::log(amount / x0) / std::log(static_cast<double>(more) / x0);
  const auto between = [&](Microseconds a, Microseconds b) {  // a line in logarithms
    return a.count() * std::pow(b.count() / a.count(), way);
  };
  return cost(between(shorter.median, longer.median), between(shorter.p10, longer.p10),
              between(shorter.p90, longer.p90), kLayerInterpolated);
}

}  // namespace overlaptune
