#pragma once
// A time against bytes, from measured points. Times are microseconds throughout `model/`.

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

  [[nodiscard]] double operator()(double bytes) const;

  /// The least time per byte of any piece of at most `bytes`. However `bytes` are split, the pieces
  /// together take at least `bytes` times this. `less` is taken off the time of each piece; it is
  /// at most the curve's time for no bytes.
  [[nodiscard]] double least_time_per_byte(double bytes, double less = 0) const;

  [[nodiscard]] std::span<const CurvePoint> points() const { return points_; }

 private:
  std::vector<CurvePoint> points_;
};

}  // namespace overlaptune
