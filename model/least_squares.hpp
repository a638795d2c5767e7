#pragma once
// Non-linear least squares over positive constants.

#include <functional>

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

/// Linear least squares with a penalty of `ridge` on the squared coefficients.
[[nodiscard]] Eigen::VectorXd fit_ridge(const Eigen::MatrixXd& features,
                                        const Eigen::VectorXd& values, double ridge);

}  // namespace overlaptune
