#include "model/contention_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace overlaptune {
namespace {

Slowdown blended(const Slowdown& a, const Slowdown& b, double t) {
  return {std::lerp(a.gemm, b.gemm, t), std::lerp(a.collective, b.collective, t)};
}

/// Linear interpolation between the two items of `list` next to `at`; the first or the last item
/// beyond. `list` ascends in `place`.
template <class T, class Place, class Value>
Slowdown interpolated(const std::vector<T>& list, double at, Place place, Value value) {
  const auto high =
      std::find_if(list.begin(), list.end(), [&](const T& each) { return place(each) >= at; });
  if (high == list.end()) return value(list.back());
  if (high == list.begin()) return value(*high);
  const auto low = high - 1;
  return blended(value(*low), value(*high), (at - place(*low)) / (place(*high) - place(*low)));
}

/// Whether the factors of one key may stand for the other. They may not if only one of the two has
/// SMs of its own.
bool are_alike(const CollectiveKey& a, const CollectiveKey& b) {
  return a.collective == b.collective && a.ranks == b.ranks && a.transport == b.transport &&
         (a.comm_ctas == 0) == (b.comm_ctas == 0);
}

}  // namespace

ContentionModel ContentionModel::fit(std::span<const Measurement> measurements,
                                     const LaunchModel& launch, const ClockModel& clock,
                                     const CollectiveModel& collectives, const GemmModel* generated,
                                     int all_sms) {
  // The clock beside a collective differs from the clock alone, so times are compared at full
  // clock.
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
  const auto one_by_one = [&](const ConcurrentProbe& probe) {
    return probe.collective.comm_ctas == 0 && generated != nullptr && !probe.gemm.tile.is_library();
  };
  const auto slowdown_of = [&](const Measurement& measurement) -> std::optional<double> {
    const auto& probe = std::get<ConcurrentProbe>(measurement.probe);
    const auto gemm = gemms.find(probe.gemm);
    double alone = gemm == gemms.end() ? 0 : gemm->second;
    if (alone <= 0) return std::nullopt;  // not probed, or no longer than its launch
    if (one_by_one(probe)) {
      alone *= generated->whole(probe.gemm, all_sms, false) / generated->whole(probe.gemm, all_sms);
    }
    return std::max(at_full_clock(measurement) / alone, 1.0);
  };
  ContentionModel model;
  if (generated != nullptr) {
    model.feed_ = FeedModel::fit(measurements, *generated, all_sms, slowdown_of);
  }
  // Several GEMMs of the same k may be probed beside one collective. The factors are their
  // geometric means.
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
    if (alone <= 0) continue;
    // The wait for SMs counts for each group, however small, so the factor leaves it out.
    const double waits =
        one_by_one(*probe)
            ? until_handed_over(*gemm_factor, generated->tile_time(probe->gemm, all_sms, false))
            : 0;
    const double collective_factor =
        (measurement.collective_time->median.count() - launch.replay - waits) / alone;
    const GemmFamily family =
        probe->gemm.tile.is_library() ? GemmFamily::library : GemmFamily::generated;
    if (family == GemmFamily::generated && !model.feed_.is_usual(*probe)) continue;
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

bool ContentionModel::knows(const CollectiveKey& key) const {
  return std::ranges::find(settings_, key, &Setting::collective) != settings_.end();
}

bool ContentionModel::knows_like(const CollectiveKey& key) const {
  return std::ranges::any_of(
      settings_, [&](const CollectiveKey& probed) { return are_alike(probed, key); },
      &Setting::collective);
}

const ContentionModel::Setting* ContentionModel::nearest(const CollectiveKey& key,
                                                         GemmFamily family) const {
  const Setting* found = nullptr;
  int least = std::numeric_limits<int>::max();
  for (const Setting& setting : settings_) {
    const CollectiveKey& probed = setting.collective;
    const int distance = std::abs(probed.comm_ctas - key.comm_ctas);
    if (setting.family == family && are_alike(probed, key) && distance < least) {
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
  // A generated GEMM is probed at few CTA counts. These probes give the ratio of its factors to
  // those of the library's GEMM, or to 1 where the library's was not probed.
  std::vector<std::pair<double, Slowdown>> differences;
  for (const Setting& setting : settings_) {
    const CollectiveKey& probed = setting.collective;
    if (setting.family != GemmFamily::generated || !are_alike(probed, key)) continue;
    const Slowdown here = at(setting, bytes, k);
    const Slowdown there =
        library == nullptr ? Slowdown{} : at(*nearest(probed, GemmFamily::library), bytes, k);
    differences.push_back(
        {std::log(probed.comm_ctas), {here.gemm / there.gemm, here.collective / there.collective}});
  }
  const Slowdown base = library == nullptr ? Slowdown{} : at(*library, bytes, k);
  if (differences.empty()) return base;
  const auto log_ctas = [](const auto& each) { return each.first; };
  std::ranges::sort(differences, {}, log_ctas);
  const Slowdown differs = interpolated(differences, std::log(key.comm_ctas), log_ctas,
                                        [](const auto& each) { return each.second; });
  return {std::clamp(base.gemm * differs.gemm, 1.0, kLargestGemmSlowdown),
          std::max(base.collective * differs.collective, 1.0)};
}

}  // namespace overlaptune
