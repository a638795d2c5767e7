#pragma once
// Non-linear least squares over positive constants.

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace overlaptune {

/// Computes the residuals of a set of constants.
using ResidualFunction =
    std::function<void(const Eigen::VectorXd& constants, Eigen::Ref<Eigen::VectorXd> residuals)>;

/// Levenberg-Marquardt over the logarithms of the constants. The fit starts from `typical` and is
/// weakly drawn to it: a factor of e from there is a residual of `pull`. So a constant that the
/// data leave open stays plausible.
[[nodiscard]] Eigen::VectorXd fit_positive(const Eigen::VectorXd& typical, Eigen::Index residuals,
                                           double pull, const ResidualFunction& function);

/// The constants that `known` has, if it has as many and all are positive and finite; else those
/// that `find` returns, which `known` then has. `known` may be null.
[[nodiscard]] Eigen::VectorXd known_or_found(std::vector<double>* known, Eigen::Index count,
                                             const std::function<Eigen::VectorXd()>& find);

/// Linear least squares with a penalty of `ridge` on the squared coefficients.
[[nodiscard]] Eigen::VectorXd fit_ridge(const Eigen::MatrixXd& features,
                                        const Eigen::VectorXd& values, double ridge);

}  // namespace overlaptune
