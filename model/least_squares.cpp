#include "model/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include <Eigen/Cholesky>

namespace overlaptune {
namespace {

/// The functor that Eigen's solver asks for.
struct LeastSquares {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Eigen::VectorXd prior;
  Eigen::Index count;
  double pull;
  const ResidualFunction& function;

  [[nodiscard]] int inputs() const { return static_cast<int>(prior.size()); }
  [[nodiscard]] int values() const { return static_cast<int>(count + prior.size()); }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const {
    function(x.array().exp().matrix(), residuals.head(count));
    residuals.tail(prior.size()) = pull * (x - prior);
    return 0;
  }
};

}  // namespace

Eigen::VectorXd fit_positive(const Eigen::VectorXd& typical, Eigen::Index residuals, double pull,
                             const ResidualFunction& function) {
  Eigen::VectorXd x = typical.array().log().matrix();
  const LeastSquares problem{x, residuals, pull, function};
  constexpr double kStep = 1e-6;
  Eigen::NumericalDiff<LeastSquares> differentiated(problem, kStep);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<LeastSquares>> solver(differentiated);
  solver.parameters.maxfev = 100 * static_cast<int>(x.size());
  solver.minimize(x);
  return x.array().exp().matrix();
}

Eigen::VectorXd known_or_found(std::vector<double>* known, Eigen::Index count,
                               const std::function<Eigen::VectorXd()>& find) {
  const auto is_sound = [](double value) { return value > 0 && std::isfinite(value); };
  if (known != nullptr && static_cast<Eigen::Index>(known->size()) == count &&
      std::all_of(known->begin(), known->end(), is_sound)) {
    return Eigen::Map<const Eigen::VectorXd>(known->data(), count);
  }
  Eigen::VectorXd found = find();
  if (known != nullptr) known->assign(found.begin(), found.end());
  return found;
}

Eigen::VectorXd fit_ridge(const Eigen::MatrixXd& features, const Eigen::VectorXd& values,
                          double ridge) {
  Eigen::MatrixXd normal = features.transpose() * features;
  normal.diagonal().array() += ridge;
  return normal.ldlt().solve(features.transpose() * values);
}

}  // namespace overlaptune
