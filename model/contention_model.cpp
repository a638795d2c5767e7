#include "model/contention_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace overlaptune {
namespace {

Slowdown mix(const Slowdown& a, const Slowdown& b, double t) {
  return {std::lerp(a.gemm, b.gemm, t), std::lerp(a.collective, b.collective, t)};
}

/// Between the nearest of `list` (ascending in what `place` tells), the first or last beyond.
template <class T, class Place, class Value>
Slowdown interpolated(const std::vector<T>& list, double at, Place place, Value value) {
  const auto high =
      std::find_if(list.begin(), list.end(), [&](const T& each) { return place(each) >= at; });
  if (high == list.end()) return value(list.back());
  if (high == list.begin()) return value(*high);
  const auto low = high - 1;
  return mix(value(*low), value(*high), (at - place(*low)) / (place(*high) - place(*low)));
}

int sms_of(const GemmProbe& probe, int all_sms) {
  return probe.sms > 0 ? probe.sms : all_sms;
}

/// Elements of A and B that a tile takes for each multiply-add.
double feed_share(const Tile& tile) {
  return 1.0 / tile.block_m + 1.0 / tile.block_n;
}

/// Of a line through the origin, from weighted points.
class Slope {
 public:
  void add(double weight, double x, double y) {
    products_ += weight * x * y;
    squares_ += weight * x * x;
  }
  [[nodiscard]] double value() const {
    constexpr double kMost = 1.5;
    return squares_ > 0 ? std::clamp(products_ / squares_, 0.0, kMost) : 0;
  }

 private:
  double products_ = 0;
  double squares_ = 0;
};

/// How a collective must slow the feed for a GEMM to be slowed so.
Feed feed_of(const GemmModel& tiled, const GemmProbe& probe, int sms, double slowdown) {
  constexpr int kSteps = 12;
  double low = 1;
  double high = 4;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (tiled.fed_slower(probe, sms, middle) < slowdown ? low : high) = middle;
  }
  return {.times = low, .probed = tiled.fed_slower(probe, sms, low)};
}

}  // namespace

ContentionModel ContentionModel::fit(std::span<const Measurement> measurements,
                                     const LaunchModel& launch, const ClockModel& clock,
                                     const CollectiveModel& collectives, const GemmModel* tiled,
                                     int all_sms) {
  // Beside a collective the clock is another one than alone: the two are compared at full clock.
  auto at_full_clock = [&](const Measurement& measurement) {
    return (measurement.time.median.count() - launch.replay) /
           clock.recorded(measurement.conditions);
  };
  std::map<GemmProbe, double> gemms;
  for (const Measurement& measurement : measurements) {
    if (const auto* probe = std::get_if<GemmProbe>(&measurement.probe)) {
      gemms[*probe] = at_full_clock(measurement);
    }
  }
  const auto slowdown_of = [&](const Measurement& measurement) -> std::optional<double> {
    const auto gemm = gemms.find(std::get<ConcurrentProbe>(measurement.probe).gemm);
    if (gemm == gemms.end()) return std::nullopt;
    return std::max(at_full_clock(measurement) / gemm->second, 1.0);
  };
  ContentionModel model;
  UsualTiles usual_tiles;
  if (tiled != nullptr) {
    usual_tiles = model.fit_probed(measurements, *tiled, all_sms, slowdown_of);
  }
  // Several GEMMs of one depth may be probed beside one collective: the factors are their geometric
  // means.
  struct Sum {
    double log_gemm = 0;
    double log_collective = 0;
    int count = 0;
  };
  std::map<std::pair<CollectiveKey, GemmFamily>,
           std::map<std::int64_t, std::map<std::int64_t, Sum>>>
      sums;  // by k, by bytes
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<ConcurrentProbe>(&measurement.probe);
    if (probe == nullptr || !measurement.collective_time) continue;
    const std::optional<double> gemm_factor = slowdown_of(measurement);
    const CollectiveProbe& c = probe->collective;
    const CollectiveKey key{c.collective, c.ranks, c.comm_ctas, c.transport};
    const Curve* curve = collectives.find(key);
    if (!gemm_factor || curve == nullptr) continue;
    const double alone = (*curve)(static_cast<double>(c.bytes.count));
    const double collective_factor =
        (measurement.collective_time->median.count() - launch.replay) / alone;
    const GemmFamily family =
        probe->gemm.tile.is_library() ? GemmFamily::library : GemmFamily::ours;
    // What differs with the tile is told by `Feed`.
    const auto usual = usual_tiles.find({c, probe->gemm.k});
    if (family == GemmFamily::ours && usual != usual_tiles.end() &&
        probe->gemm.tile != usual->second) {
      continue;
    }
    Sum& sum = sums[{key, family}][probe->gemm.k][c.bytes.count];
    sum.log_gemm += std::log(std::min(*gemm_factor, kLargestGemmSlowdown));
    sum.log_collective += std::log(std::max(collective_factor, 1.0));
    ++sum.count;
  }
  for (const auto& [key, by_k] : sums) {
    Setting& setting = model.settings_.emplace_back();
    setting.collective = key.first;
    setting.family = key.second;
    for (const auto& [k, by_bytes] : by_k) {
      Depth& depth = setting.depths.emplace_back();
      depth.per_k = -1.0 / static_cast<double>(k);
      for (const auto& [bytes, sum] : by_bytes) {
        depth.points.push_back({.log_bytes = std::log(static_cast<double>(bytes)),
                                .slowdown = {std::exp(sum.log_gemm / sum.count),
                                             std::exp(sum.log_collective / sum.count)}});
      }
    }
  }
  return model;
}

ContentionModel::UsualTiles ContentionModel::fit_probed(std::span<const Measurement> measurements,
                                                        const GemmModel& tiled, int all_sms,
                                                        const SlowdownOf& slowdown_of) {
  std::map<Tile, int> counts;
  struct Seen {
    GemmProbe gemm{};
    double slowdown = 1;
    double collective = 0;  ///< time
  };
  std::map<std::pair<CollectiveProbe, std::int64_t>, std::vector<Seen>> seen;  // by k
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<ConcurrentProbe>(&measurement.probe);
    if (probe == nullptr || probe->gemm.tile.is_library()) continue;
    const auto slowdown = slowdown_of(measurement);
    if (!slowdown || !measurement.collective_time) continue;
    ++counts[probe->gemm.tile];
    seen[{probe->collective, probe->gemm.k}].push_back(
        {probe->gemm, *slowdown, measurement.collective_time->median.count()});
  }
  UsualTiles usual_tiles;
  Slope gemm;
  Slope collective;
  for (const auto& [beside, list] : seen) {
    const auto usual = std::max_element(
        list.begin(), list.end(),
        [&](const Seen& a, const Seen& b) { return counts[a.gemm.tile] < counts[b.gemm.tile]; });
    usual_tiles[beside] = usual->gemm.tile;
    if (!probed_ || counts[probed_->gemm.tile] < counts[usual->gemm.tile]) {
      probed_ = Probed{.gemm = usual->gemm, .sms = sms_of(usual->gemm, all_sms)};
    }
    const Feed feed = feed_of(tiled, usual->gemm, sms_of(usual->gemm, all_sms), usual->slowdown);
    for (const Seen& each : list) {
      const double longer = tiled.fed_slower(each.gemm, sms_of(each.gemm, all_sms), feed.times);
      const double expected = std::log(longer / feed.probed);
      const double weight = feed.probed - 1;  // of no contention nothing is seen
      gemm.add(weight, expected, std::log(each.slowdown / usual->slowdown));
      collective.add(weight, std::log(feed_share(each.gemm.tile) / feed_share(usual->gemm.tile)),
                     std::log(each.collective / usual->collective));
    }
  }
  if (probed_) {
    probed_->share = gemm.value();
    probed_->collective_share = collective.value();
  }
  return usual_tiles;
}

Feed ContentionModel::feed(const GemmModel& tiled, std::int64_t k, double slowdown) const {
  if (!probed_) return {};
  GemmProbe deep = probed_->gemm;
  deep.k = k;
  Feed feed = feed_of(tiled, deep, probed_->sms, slowdown);
  feed.share = probed_->share;
  feed.tile = probed_->gemm.tile;
  feed.collective_share = probed_->collective_share;
  return feed;
}

double Feed::gemm_factor(const GemmWork& work, const GemmConstants& constants) const {
  return share > 0 ? std::pow(fed_slower(work, constants, times) / probed, share) : 1;
}

double Feed::collective_factor(const Tile& other) const {
  constexpr double kFarthest = 2;  // from what was probed
  if (collective_share == 0) return 1;
  const double more = feed_share(other) / feed_share(tile);
  return std::pow(std::clamp(more, 1 / kFarthest, kFarthest), collective_share);
}

const ContentionModel::Setting* ContentionModel::nearest(const CollectiveKey& key,
                                                         GemmFamily family) const {
  const Setting* found = nullptr;
  int least = std::numeric_limits<int>::max();
  for (const Setting& setting : settings_) {
    const CollectiveKey& probed = setting.collective;
    const int distance = std::abs(probed.comm_ctas - key.comm_ctas);
    if (setting.family == family && probed.collective == key.collective &&
        probed.ranks == key.ranks && probed.transport == key.transport && distance < least) {
      least = distance;
      found = &setting;
    }
  }
  return found;
}

Slowdown ContentionModel::at(const Setting& setting, double bytes, std::int64_t k) {
  const double log_bytes = std::log(std::max(bytes, 1.0));
  const auto at_depth = [&](const Depth& depth) {
    return interpolated(
        depth.points, log_bytes, [](const Point& point) { return point.log_bytes; },
        [](const Point& point) { return point.slowdown; });
  };
  return interpolated(
      setting.depths, -1.0 / static_cast<double>(k), [](const Depth& depth) { return depth.per_k; },
      at_depth);
}

Slowdown ContentionModel::operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                     GemmFamily family) const {
  const Setting* library = nearest(key, GemmFamily::library);
  if (family == GemmFamily::library) {
    return library == nullptr ? Slowdown{} : at(*library, bytes, k);
  }
  // Ours is probed at few CTA counts: what is taken from there is how it differs from the library's
  // (from nothing, where that is never run so).
  std::vector<std::pair<double, Slowdown>> differences;
  for (const Setting& ours : settings_) {
    const CollectiveKey& probed = ours.collective;
    if (ours.family != GemmFamily::ours || probed.collective != key.collective ||
        probed.ranks != key.ranks || probed.transport != key.transport) {
      continue;
    }
    const Slowdown here = at(ours, bytes, k);
    const Slowdown there =
        library == nullptr ? Slowdown{} : at(*nearest(probed, GemmFamily::library), bytes, k);
    differences.push_back(
        {std::log(probed.comm_ctas), {here.gemm / there.gemm, here.collective / there.collective}});
  }
  const Slowdown base = library == nullptr ? Slowdown{} : at(*library, bytes, k);
  if (differences.empty()) return base;
  std::sort(differences.begin(), differences.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const Slowdown differs = interpolated(
      differences, std::log(key.comm_ctas), [](const auto& each) { return each.first; },
      [](const auto& each) { return each.second; });
  return {std::clamp(base.gemm * differs.gemm, 1.0, kLargestGemmSlowdown),
          std::max(base.collective * differs.collective, 1.0)};
}

}  // namespace overlaptune
