#include "model/curve.hpp"

#include <algorithm>
#include <cmath>

namespace overlaptune {
namespace {

/// Makes the times non-decreasing: neighbours out of order all get their geometric mean.
void make_isotonic(std::vector<CurvePoint>& points) {
  struct Pool {
    double log_sum;
    std::size_t count;
    [[nodiscard]] double mean() const { return log_sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const CurvePoint& point : points) {
    pools.push_back({std::log(point.time), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().log_sum += last.log_sum;
      pools.back().count += last.count;
    }
  }
  std::size_t at = 0;
  for (const Pool& pool : pools) {
    const bool kept = pool.count == 1;
    for (std::size_t i = 0; i < pool.count; ++i, ++at) {
      if (!kept) points[at].time = std::exp(pool.mean());
    }
  }
}

}  // namespace

Curve::Curve(std::vector<CurvePoint> points) : points_(std::move(points)) {
  std::ranges::sort(points_, {}, &CurvePoint::bytes);
  make_isotonic(points_);
}

double Curve::least_time_per_byte(double bytes, double less) const {
  // On a segment time / bytes is monotonic, so the least lies at a measured point or at the end.
  double least = ((*this)(bytes)-less) / bytes;
  for (const CurvePoint& point : points_) {
    if (point.bytes < bytes) least = std::min(least, (point.time - less) / point.bytes);
  }
  return least;
}

}  // namespace overlaptune
