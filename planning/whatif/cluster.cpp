#include "planning/whatif/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune::cluster {
namespace {

constexpr double kBytesPerUs = 1e3;  // of 1 GB/s
constexpr std::int64_t kMostProduct = std::numeric_limits<std::int64_t>::max();

/// a * b of positive numbers, or `kMostProduct` where that is more.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return a > kMostProduct / b ? kMostProduct : a * b;
}

std::int64_t product(const std::vector<int>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, times);
}

/// Sizes up to `most` whose product is `count` and whose sum is least, so that they are as even as
/// can be. Empty if there are none.
std::vector<int> most_even(const std::vector<int>& most, std::size_t from, std::int64_t count) {
  if (from + 1 == most.size()) {
    if (count > most[from]) return {};
    return {static_cast<int>(count)};
  }
  std::vector<int> best;
  for (int size = 1; size <= most[from]; ++size) {
    if (count % size != 0) continue;
    std::vector<int> sizes = most_even(most, from + 1, count / size);
    if (sizes.empty()) continue;
    sizes.insert(sizes.begin(), size);
    const auto sum_of = [](const std::vector<int>& v) {
      return std::accumulate(v.begin(), v.end(), 0);
    };
    if (best.empty() || sum_of(sizes) < sum_of(best)) best = std::move(sizes);
  }
  return best;
}

}  // namespace

std::int64_t most_gpus(const Cluster& cluster) {
  std::int64_t gpus = 1;
  for (const Level& level : cluster.levels) gpus = times(gpus, product(level.sizes));
  return gpus;
}

Expected<std::vector<Slice>> slices_of(const Cluster& cluster, int gpus) {
  if (gpus > most_gpus(cluster)) {
    return bad_input(fmt::format("--gpus {}: expected at most the {} GPUs of {}", gpus,
                                 most_gpus(cluster), cluster.name));
  }
  std::vector<Slice> slices;
  std::int64_t left = gpus;
  int inner = 1;
  for (const Level& level : cluster.levels) {
    if (left == 1 && !slices.empty()) break;
    const std::int64_t whole = product(level.sizes);
    Slice slice{.level = &level, .sizes = level.sizes, .inner = inner};
    if (left >= whole) {
      if (left % whole != 0) {
        return bad_input(
            fmt::format("--gpus {}: expected a multiple of the {} of one group of '{}' in {}", gpus,
                        inner * whole, level.name, cluster.name));
      }
      slice.size = static_cast<int>(whole);
    } else {
      slice.sizes = most_even(level.sizes, 0, left);
      if (slice.sizes.empty()) {
        return bad_input(fmt::format(
            "--gpus {}: sizes of '{}' in {} do not multiply to it: expected a product of sizes up "
            "to {}",
            gpus, level.name, cluster.name, fmt::join(level.sizes, " x ")));
      }
      slice.size = static_cast<int>(left);
    }
    left /= slice.size;
    inner *= slice.size;
    slices.push_back(std::move(slice));
  }
  return slices;
}

double value_at(const ByBytes& points, double bytes) {
  if (bytes <= points.front().first) return points.front().second;
  if (bytes >= points.back().first) return points.back().second;
  const auto above = std::ranges::upper_bound(points, bytes, {}, &ByBytes::value_type::first);
  const auto& [low, value] = *(above - 1);
  const double way = std::log(bytes / low) / std::log(above->first / low);
  return value + way * (above->second - value);
}

double gpu_rate(const Slice& slice, double bytes) {
  const Level& level = *slice.level;
  double gb_per_s = level.links * level.gb_per_s / slice.inner;
  if (level.kind == LevelKind::full_mesh && level.sizes.front() > 1) {
    gb_per_s *= (slice.size - 1.0) / (level.sizes.front() - 1.0);  // to those that take part
  }
  if (level.root_gb_per_s > 0) {
    const double members = static_cast<double>(slice.size) * slice.inner;
    gb_per_s = std::min(gb_per_s, level.root_gb_per_s / members);
  }
  return gb_per_s * value_at(level.efficiency, bytes) * kBytesPerUs;
}

}  // namespace overlaptune::cluster
