#pragma once
// Summaries of samples.

#include <optional>
#include <span>

#include "core/base/units.hpp"

namespace overlaptune {

/// Median, p10 and p90, linear between order statistics, and the number of samples.
struct Summary {
  Microseconds median{};
  Microseconds p10{};
  Microseconds p90{};
  int count = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// Quantile q in [0, 1], linear between order statistics. NaN for no samples.
[[nodiscard]] double quantile(std::span<const double> samples, double q);

[[nodiscard]] double mean(std::span<const double> samples);

/// Geometric mean of positive samples; NaN for none.
[[nodiscard]] double geometric_mean(std::span<const double> samples);

/// Quantile q in (0.5, 1) of Student's distribution with at least one degree of freedom
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
[[nodiscard]] double student_quantile(double q, int freedom);

struct MedianInterval {
  double low = 0;
  double high = 0;
  friend bool operator==(const MedianInterval&, const MedianInterval&) = default;
};

/// An interval that holds the median of the population with at least 95 % confidence, whatever its
/// distribution: two order statistics, as near to the middle as that allows (Conover, Practical
/// Nonparametric Statistics, 3.2). None for fewer than 6 samples, which allow no such interval.
[[nodiscard]] std::optional<MedianInterval> median_interval(std::span<const double> samples);

[[nodiscard]] Summary summarize(std::span<const Microseconds> samples);

}  // namespace overlaptune
