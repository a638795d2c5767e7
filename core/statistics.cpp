#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace overlaptune {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return kNone;
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// The probability that a value of Student's distribution lies within -t..t.
double student_within(double t, int freedom) {
  const bool odd = freedom % 2 != 0;
  const double angle = std::atan(t / std::sqrt(freedom));
  const double cos2 = std::cos(angle) * std::cos(angle);
  double term = odd ? std::cos(angle) : 1;
  double sum = 0;
  for (int i = odd ? 3 : 2; i <= freedom; i += 2) {
    sum += term;
    term *= cos2 * (i - 1) / i;
  }
  sum *= std::sin(angle);
  return odd ? 2 * std::numbers::inv_pi * (angle + sum) : sum;
}

}  // namespace

double student_quantile(double q, int freedom) {
  constexpr int kHalvings = 100;
  double low = 0;
  double high = 1;
  const double within = 2 * q - 1;
  while (student_within(high, freedom) < within) high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (student_within(middle, freedom) < within ? low : high) = middle;
  }
  return low;
}

double quantile(std::span<const double> samples, double q) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

double mean(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double geometric_mean(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  double sum = 0;
  for (const double sample : samples) sum += std::log(sample);
  return std::exp(sum / static_cast<double>(samples.size()));
}

std::optional<MedianInterval> median_interval(std::span<const double> samples) {
  constexpr double kMostOutside = 0.05;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size();
  // The number of samples under the median is binomial: `tail` is the probability that it is at
  // most `left`, and so that the sample of this index lies above the median.
  double log_term = -static_cast<double>(count) * std::numbers::ln2;
  double tail = 0;
  std::optional<MedianInterval> interval;
  for (std::size_t left = 0; 2 * left + 1 < count; ++left) {
    tail += std::exp(log_term);
    if (2 * tail > kMostOutside) break;
    interval = MedianInterval{sorted[left], sorted[count - 1 - left]};
    log_term += std::log(static_cast<double>(count - left) / static_cast<double>(left + 1));
  }
  return interval;
}

Summary summarize(std::span<const Microseconds> samples) {
  std::vector<double> sorted;
  sorted.reserve(samples.size());
  for (const Microseconds sample : samples) sorted.push_back(sample.count());
  std::sort(sorted.begin(), sorted.end());
  return {.median = us(quantile_of_sorted(sorted, 0.5)),
          .p10 = us(quantile_of_sorted(sorted, 0.1)),
          .p90 = us(quantile_of_sorted(sorted, 0.9)),
          .count = static_cast<int>(samples.size())};
}

}  // namespace overlaptune
