#pragma once
// Corrections of the analytic model's errors, learned from measured configs. The logarithm of
// measured over predicted time is a Gaussian process over problem and config (Rasmussen and
// Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1). docs/model.md says what
// it brings.

#include <cstddef>
#include <optional>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// A logarithm of measured over predicted time: its expectation and standard deviation.
struct Correction {
  double mean = 0;
  double deviation = 0;

  /// Degrees of freedom of the noise, which is Student's: single measurements may be far off.
  static constexpr int kFreedom = 10;
  /// How many deviations the p90 of a measurement lies above the expectation.
  [[nodiscard]] static double p90_deviations();
};

/// A config of a problem, as points between which distances are taken.
struct CorrectionPoint {
  Eigen::VectorXd problem{};
  Eigen::VectorXd config{};
  Strategy strategy = kBaseline;
};

/// `over_ideal`: as `over_ideal` of the config's prediction (model/model.hpp).
[[nodiscard]] CorrectionPoint correction_point(const Problem& problem, Launch launch,
                                               const Config& config, double over_ideal);

/// The corrections for the configs of one problem.
class ProblemCorrections {
 public:
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] Launch launch() const { return launch_; }
  /// Number of measured configs that they are made from.
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  /// A config of the problem, as the functions below take it.
  [[nodiscard]] CorrectionPoint point(const Config& config, double over_ideal) const {
    return correction_point(problem_, launch_, config, over_ideal);
  }

  /// The correction of one config, as a measurement would show it, with its noise.
  [[nodiscard]] Correction of(const CorrectionPoint& config) const;

  /// The correction of `a` less that of `b`, without noise. Its deviation is smaller than those of
  /// the two, because configs of one problem share most of their error.
  [[nodiscard]] Correction between(const CorrectionPoint& a, const CorrectionPoint& b) const;

 private:
  friend class Corrections;
  /// A config as the rows tell of it.
  struct Seen {
    Eigen::VectorXd covariances{};  ///< with each row
    Eigen::VectorXd solved{};       ///< the rows' inverse covariance times these
    double mean = 0;
  };
  [[nodiscard]] Seen seen(const CorrectionPoint& config) const;

  Problem problem_{};
  Launch launch_{};
  std::vector<CorrectionPoint> rows_{};
  std::optional<Eigen::LDLT<Eigen::MatrixXd>> rows_covariance_{};  ///< none without rows
  Eigen::VectorXd weights_{};  ///< inverse covariance times the rows' logarithms
  double scale_ = 1;           ///< deviations here over those of the prior
};

/// Measured configs of one platform.
class Corrections {
 public:
  /// Adds a measured config: the logarithm of its measured over its predicted time.
  void add(CorrectionPoint config, double log_ratio);

  /// The corrections for a problem, from the measured configs of the nearest problems.
  [[nodiscard]] ProblemCorrections around(const Problem& problem, Launch launch) const;

 private:
  struct Row {
    CorrectionPoint point{};
    double log_ratio = 0;
  };
  std::vector<Row> rows_{};
};

}  // namespace overlaptune
