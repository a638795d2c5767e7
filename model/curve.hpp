#pragma once
// A time against bytes, from measured points. Times are microseconds throughout `model/`.

#include <cstddef>
#include <span>
#include <vector>

namespace overlaptune {

struct CurvePoint {
  double bytes = 0;
  double time = 0;
};

/// A non-decreasing function of bytes through the measured points. Points that are out of order
/// (those of small collectives often are) are pooled by isotonic regression in log space (pool
/// adjacent violators; Barlow et al., Statistical Inference under Order Restrictions, 1972).
/// Between two points a segment is latency + bytes / bandwidth. Beyond the last point its segment
/// goes on; below the first one the time is constant.
class Curve {
 public:
  /// `points`: at least one, in any order, with positive times and bytes.
  explicit Curve(std::vector<CurvePoint> points);

  [[nodiscard]] double operator()(double bytes) const {
    std::size_t segment = 0;
    return ascending(bytes, segment);
  }
  /// The value at a size, for sizes that are asked for in ascending order. `segment` is 0 at first.
  [[nodiscard]] double ascending(double bytes, std::size_t& segment) const {
    if (bytes <= points_.front().bytes || points_.size() == 1) return points_.front().time;
    while (segment + 2 < points_.size() && points_[segment + 1].bytes < bytes) ++segment;
    return on_segment(segment, bytes);
  }

  /// The least time per byte of any piece of at most `bytes`. However `bytes` are split, the pieces
  /// together take at least `bytes` times this. `less` is taken off the time of each piece; it is
  /// at most the curve's time for no bytes.
  [[nodiscard]] double least_time_per_byte(double bytes, double less = 0) const;

  [[nodiscard]] std::span<const CurvePoint> points() const { return points_; }

 private:
  /// The time on the segment between a point and the next one, or beyond it.
  [[nodiscard]] double on_segment(std::size_t segment, double bytes) const {
    const CurvePoint& low = points_[segment];
    const CurvePoint& high = points_[segment + 1];
    return low.time + (high.time - low.time) * (bytes - low.bytes) / (high.bytes - low.bytes);
  }

  std::vector<CurvePoint> points_;
};

}  // namespace overlaptune
