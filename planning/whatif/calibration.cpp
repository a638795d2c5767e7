#include "planning/whatif/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/least_squares.hpp"

namespace overlaptune::cluster {
namespace {

/// How strongly the factors are drawn to 1: a factor of e is a residual of this.
constexpr double kPriorWeight = 0.4;
/// Octaves beyond the measured sizes over which what the fit leaves is halved.
constexpr double kHalfLife = 4;
/// The least spread of an interval, about what a measurement repeats to.
constexpr double kLeastSpread = 0.02;
/// The spread where no row can be left out to find it: the error without calibration.
constexpr double kUnknownSpread = 0.2;
/// The most rows, evenly spread, to which the factors are fitted.
constexpr std::size_t kMostFitted = 2000;

Cluster scaled(Cluster cluster, double launch, double latency, double rate) {
  cluster.launch_us *= launch;
  for (Level& level : cluster.levels) {
    level.latency_us *= latency;
    level.gb_per_s *= rate;
    level.root_gb_per_s *= rate;
    level.multicast.latency_us *= latency;
    for (Protocol& protocol : level.protocols) {
      protocol.start_us *= launch;
      protocol.extra_us *= latency;
    }
  }
  return cluster;
}

/// The fastest algorithm's time of a question that was checked before.
double best_us(const Cluster& cluster, const Question& question) {
  return value_or_throw(times_of(cluster, question)).front().us;
}

/// A curve of residuals, which fades beyond its points.
double on_curve(const ByBytes& curve, double bytes) {
  const double nearest = std::clamp(bytes, curve.front().first, curve.back().first);
  return value_at(curve, bytes) * std::exp2(-std::abs(std::log2(bytes / nearest)) / kHalfLife);
}

/// The value of a curve at one of its points when that point is left out.
double without_point(const ByBytes& curve, std::size_t left_out) {
  const std::size_t first = left_out == 0 ? 1 : left_out - 1;
  const std::size_t last = std::min(left_out + 1, curve.size() - 1);
  ByBytes neighbours;
  for (std::size_t i = first; i <= last; ++i) {
    if (i != left_out) neighbours.push_back(curve[i]);
  }
  return on_curve(neighbours, curve[left_out].first);
}

}  // namespace

void Calibration::fit_factors(std::span<const MeasuredRow> all) {
  // Three factors need no more rows than these.
  std::vector<MeasuredRow> rows;
  const std::size_t step = (all.size() + kMostFitted - 1) / kMostFitted;
  for (std::size_t i = 0; i < all.size(); i += step) rows.push_back(all[i]);
  const auto residual_of = [&](const Eigen::VectorXd& factors, Eigen::Ref<Eigen::VectorXd> out) {
    const Cluster cluster = scaled(cluster_, factors[0], factors[1], factors[2]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const MeasuredRow& row = rows[i];
      out[static_cast<Eigen::Index>(i)] =
          std::log(best_us(cluster, {operation_, row.bytes, row.gpus}) / row.us);
    }
  };
  const Eigen::VectorXd factors = fit_positive(
      Eigen::VectorXd::Ones(3), static_cast<Eigen::Index>(rows.size()), kPriorWeight, residual_of);
  cluster_ = scaled(std::move(cluster_), factors[0], factors[1], factors[2]);
}

Expected<Calibration> Calibration::fit(const Cluster& cluster, std::span<const MeasuredRow> rows,
                                       Operation operation) {
  std::vector<MeasuredRow> own;
  for (const MeasuredRow& row : rows) {
    if (row.operation != operation) continue;
    const auto possible = slices_of(cluster, row.gpus);
    if (!possible) return bad_input("measured rows: " + possible.error().message);
    own.push_back(row);
  }
  if (own.empty()) {
    return bad_input(fmt::format("measured rows: of {}, none of {}: expected some of --op {}",
                                 rows.empty() ? "nothing" : to_string(rows.front().operation),
                                 to_string(operation), to_string(operation)));
  }
  Calibration calibration;
  calibration.operation_ = operation;
  calibration.cluster_ = cluster;
  calibration.fit_factors(own);

  std::map<int, std::vector<CurvePoint>> points;
  for (const MeasuredRow& row : own) points[row.gpus].push_back({row.bytes, row.us});
  for (auto& [gpus, list] : points) {
    const Curve isotonic(std::move(list));
    for (const CurvePoint& point : isotonic.points()) {
      calibration.residuals_[gpus].emplace_back(
          point.bytes,
          std::log(point.time / best_us(calibration.cluster_, {operation, point.bytes, gpus})));
    }
  }
  return calibration;
}

double Calibration::log_ratio_at(double bytes, int gpus, Own own) const {
  const auto from = residuals_.lower_bound(gpus);
  const auto above = own == Own::left_out ? residuals_.upper_bound(gpus) : from;
  if (above == residuals_.end()) return on_curve(std::prev(from)->second, bytes);
  if (from == residuals_.begin() || above->first == gpus) return on_curve(above->second, bytes);
  const auto below = std::prev(from);
  const double way = std::log(static_cast<double>(gpus) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  return (1 - way) * on_curve(below->second, bytes) + way * on_curve(above->second, bytes);
}

/// The 90 % quantile of the errors on rows that are left out: each row alone where the GPU count
/// was measured, else all rows of a count. Beyond the measured sizes it grows by the distance.
double Calibration::log_spread(double bytes, int gpus) const {
  std::vector<double> errors;
  const auto measured = residuals_.find(gpus);
  double outside = 0;
  for (const auto& [count, curve] : residuals_) {
    if (measured != residuals_.end() && count != gpus) continue;
    outside = std::max(
        {0.0, std::log2(curve.front().first / bytes), std::log2(bytes / curve.back().first)});
    if (measured == residuals_.end()) {
      if (residuals_.size() < 2) continue;
      for (const auto& [size, log_ratio] : curve) {
        errors.push_back(std::abs(log_ratio - log_ratio_at(size, count, Own::left_out)));
      }
      continue;
    }
    for (std::size_t i = 0; i < curve.size() && curve.size() > 1; ++i) {
      errors.push_back(std::abs(curve[i].second - without_point(curve, i)));
    }
  }
  // The rank that a new error exceeds with a chance of 10 % at most (Vovk et al., Algorithmic
  // learning in a random world, 2005).
  constexpr double kCovered = 0.9;
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(kCovered * (static_cast<double>(errors.size()) + 1)));
  const double spread = errors.empty()
                            ? kUnknownSpread
                            : errors[std::min(std::max<std::size_t>(rank, 1), errors.size()) - 1];
  return std::max(spread, kLeastSpread) * (1 + outside / 4);
}

Expected<Estimate> Calibration::at(double bytes, int gpus) const {
  auto algorithms = times_of(cluster_, {operation_, bytes, gpus});
  if (!algorithms) return error_of(algorithms);
  const double us = algorithms->front().us * std::exp(log_ratio_at(bytes, gpus, Own::used));
  const double spread = std::exp(log_spread(bytes, gpus));
  return Estimate{us, us / spread, us * spread, std::move(*algorithms)};
}

}  // namespace overlaptune::cluster
