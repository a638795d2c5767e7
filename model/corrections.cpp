#include "model/corrections.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/config/config_fields.hpp"
#include "core/config/field_types.hpp"
#include "core/config/fields.hpp"
#include "core/statistics.hpp"

namespace overlaptune {
namespace {

// Priors, from databases of 2 H100 and of 2, 4 and 8 H200 (docs/model.md). Deviations are of the
// logarithm of a time. They are right up to one factor, which follows from the rows themselves.
constexpr double kError = 0.055;  ///< error that similar configs of similar problems share
constexpr double kNoise = 0.015;  ///< error of one measurement and its config alone
constexpr int kReweightings = 2;
/// Rows for which the prior of the common factor counts.
constexpr double kPriorRows = 20;

// How many factors of two apart two sizes, or two values of a field, have a distance of 1. At a
// distance of 1 errors have a correlation of 0.48, at 2 of 0.14.
constexpr double kOfSides = 3.4;  ///< m, n
constexpr double kOfDepth = 1.8;  ///< k
constexpr double kOfAlignment = 1.4;
constexpr double kOfTile = 1.1;
constexpr double kOfNumber = 2.2;
constexpr double kOfStages = 0.8;
constexpr double kOfGroups = 6;  ///< tiles of the largest group
constexpr double kOfOverIdeal = 0.6;
// The distance of two names.
constexpr double kOtherName = 1.4;  ///< of a field
constexpr double kOtherOp = 0.5;
constexpr double kOtherLaunch = 0.35;
constexpr double kOtherDtype = 1;

/// Elements of k from which on rows are aligned to all that matters: a swizzled row of 128 bytes.
constexpr std::int64_t kAlignedElements = 64;

/// Rows that corrections are made from. The time grows with the cube of it.
constexpr std::size_t kNearest = 128;

class Features {
 public:
  /// A number that counts by its logarithm; a factor of 2^`length` is a distance of 1.
  void logarithm(double value, double length) { list_.push_back(std::log2(1 + value) / length); }
  /// A ratio that counts by its logarithm; a factor of 2^`length` is a distance of 1.
  void ratio(double value, double length) { list_.push_back(std::log2(value) / length); }
  /// One of several names: any two different ones are `distance` apart.
  template <class E>
  void name(E value, double distance) {
    for (const auto& each : NamesOf<E>::all) {
      list_.push_back(each.value == value ? distance / std::sqrt(2.0) : 0);
    }
  }
  [[nodiscard]] Eigen::VectorXd take() const {
    return Eigen::Map<const Eigen::VectorXd>(list_.data(), static_cast<Eigen::Index>(list_.size()));
  }

 private:
  std::vector<double> list_{};
};

// Each overload adds the features of one field of a config.

void add(Features& features, int value) {
  features.logarithm(value, kOfNumber);
}
void add(Features& features, const Tile& tile) {
  features.logarithm(tile.block_m, kOfTile);
  features.logarithm(tile.block_n, kOfTile);
}
/// The largest of the groups: in it the links idle, or all tiles need them at once.
void add(Features& features, const std::vector<std::int64_t>& groups) {
  const auto largest = std::ranges::max_element(groups);
  const std::int64_t tiles = largest == groups.end() ? 0 : *largest;
  features.logarithm(static_cast<double>(tiles), kOfGroups);
}
template <HasNames E>
void add(Features& features, const E& value) {
  features.name(value, kOtherName);
}

/// The Matérn class with 3/2 (Rasmussen and Williams, equation 4.17): unlike the squared
/// exponential it does not swing beyond its rows. Errors of different strategies have nothing in
/// common: each has a GEMM of its own kind, or another schedule.
double covariance(const CorrectionPoint& a, const CorrectionPoint& b) {
  if (a.strategy != b.strategy) return 0;
  const double apart = (a.problem - b.problem).squaredNorm() + (a.config - b.config).squaredNorm();
  const double distance = std::sqrt(3 * apart);
  return kError * kError * (1 + distance) * std::exp(-distance);
}

/// The rows' covariance with Student's noise, solved by expectation and maximisation: a row that
/// the others do not explain counts less (Lange, Little and Taylor, Robust statistical modeling
/// using the t distribution, 1989).
struct Solved {
  Eigen::LDLT<Eigen::MatrixXd> covariance{};
  Eigen::VectorXd weights{};
};

Solved solved(const Eigen::MatrixXd& covariances, const Eigen::VectorXd& logs) {
  constexpr double kVariance = kNoise * kNoise;
  Eigen::VectorXd noise = Eigen::VectorXd::Constant(logs.size(), kVariance);
  Solved result;
  for (int i = 0;; ++i) {
    Eigen::MatrixXd matrix = covariances;
    matrix.diagonal() += noise;
    result.covariance.compute(matrix);
    result.weights = result.covariance.solve(logs);
    if (i == kReweightings) return result;
    const Eigen::ArrayXd unexplained = noise.array() * result.weights.array();
    noise = kVariance * (Correction::kFreedom + unexplained.square() / kVariance) /
            (Correction::kFreedom + 1);
  }
}

}  // namespace

double Correction::p90_deviations() {
  static const double deviations = student_quantile(0.9, kFreedom);
  return deviations;
}

CorrectionPoint correction_point(const Problem& problem, Launch launch, const Config& config,
                                 double over_ideal) {
  Features shape;
  shape.logarithm(static_cast<double>(problem.m), kOfSides);
  shape.logarithm(static_cast<double>(problem.n), kOfSides);
  shape.logarithm(static_cast<double>(problem.k), kOfDepth);
  // Rows of A and B that do not start at whole lines of memory take other paths in a GEMM.
  shape.logarithm(static_cast<double>(std::gcd(problem.k, kAlignedElements)), kOfAlignment);
  shape.logarithm(problem.ranks, kOfNumber);
  shape.name(problem.op, kOtherOp);
  shape.name(problem.elements, kOtherDtype);
  shape.name(launch, kOtherLaunch);
  Features how;
  each_field(config, [&](auto field, const auto& value, Presence) {
    if constexpr (std::is_same_v<decltype(field), config_field::Stages>) {
      how.logarithm(value, kOfStages);  // one more may leave no room to stage C
    } else {
      add(how, value);
    }
  });
  how.ratio(over_ideal, kOfOverIdeal);
  return {.problem = shape.take(), .config = how.take(), .strategy = strategy_of(config)};
}

void Corrections::add(CorrectionPoint config, double log_ratio) {
  rows_.push_back({std::move(config), log_ratio});
}

ProblemCorrections Corrections::around(const Problem& problem, Launch launch) const {
  ProblemCorrections result;
  result.problem_ = problem;
  result.launch_ = launch;
  const Eigen::VectorXd here = correction_point(problem, launch, Config{}, 1).problem;
  std::vector<std::pair<double, const Row*>> nearest;
  nearest.reserve(rows_.size());
  for (const Row& row : rows_) {
    nearest.emplace_back((row.point.problem - here).squaredNorm(), &row);
  }
  const std::size_t count = std::min(kNearest, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count),
                    nearest.end());
  if (count == 0) return result;
  const auto size = static_cast<Eigen::Index>(count);
  Eigen::VectorXd logs(size);
  Eigen::MatrixXd matrix(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const Row& row = *nearest[static_cast<std::size_t>(i)].second;
    logs[i] = row.log_ratio;
    result.rows_.push_back(row.point);
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double both = covariance(row.point, result.rows_[static_cast<std::size_t>(j)]);
      matrix(i, j) = both;
      matrix(j, i) = both;
    }
  }
  Solved known = solved(matrix, logs);
  result.rows_covariance_ = std::move(known.covariance);
  result.weights_ = std::move(known.weights);
  // The factor of greatest likelihood for all deviations together.
  result.scale_ = std::sqrt((kPriorRows + logs.dot(result.weights_)) /
                            (kPriorRows + static_cast<double>(count)));
  return result;
}

ProblemCorrections::Seen ProblemCorrections::seen(const CorrectionPoint& config) const {
  Seen result;
  result.covariances.resize(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    result.covariances[static_cast<Eigen::Index>(i)] = covariance(config, rows_[i]);
  }
  if (rows_covariance_) result.solved = rows_covariance_->solve(result.covariances);
  result.mean = result.covariances.dot(weights_);
  return result;
}

Correction ProblemCorrections::of(const CorrectionPoint& config) const {
  const Seen own = seen(config);
  const double variance =
      covariance(config, config) + kNoise * kNoise - own.covariances.dot(own.solved);
  return {own.mean, scale_ * std::sqrt(std::max(0.0, variance))};
}

Correction ProblemCorrections::between(const CorrectionPoint& a, const CorrectionPoint& b) const {
  const Seen one = seen(a);
  const Seen other = seen(b);
  const double variance = covariance(a, a) + covariance(b, b) - 2 * covariance(a, b) -
                          (one.covariances - other.covariances).dot(one.solved - other.solved);
  return {one.mean - other.mean, scale_ * std::sqrt(std::max(0.0, variance))};
}

}  // namespace overlaptune
