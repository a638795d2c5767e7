#pragma once
// A time against bytes, from measured points. Times are microseconds throughout `model/`.

#include <span>
#include <vector>

namespace overlaptune {

struct CurvePoint {
  double bytes = 0;
  double time = 0;
};

/// Non-decreasing in bytes and through every measured point that is not out of order; points that
/// are (small collectives often are) are pooled by isotonic regression in log space (pool adjacent
/// violators; Barlow et al., Statistical Inference under Order Restrictions, 1972). Between two
/// points a segment is latency + bytes / bandwidth; beyond the last one its segment goes on, below
/// the first one the time stays.
class Curve {
 public:
  /// At least one point, positive times and bytes, in any order.
  explicit Curve(std::vector<CurvePoint> points);

  [[nodiscard]] double operator()(double bytes) const;

  /// The least time per byte of any piece of at most `bytes`: however `bytes` are split, the pieces
  /// together take at least `bytes` times this. Each piece takes `less` less than the curve says,
  /// at most its time for no bytes.
  [[nodiscard]] double least_time_per_byte(double bytes, double less = 0) const;

  [[nodiscard]] std::span<const CurvePoint> points() const { return points_; }

 private:
  std::vector<CurvePoint> points_;
};

}  // namespace overlaptune
