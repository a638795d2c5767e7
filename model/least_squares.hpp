#pragma once
// Non-linear least squares over positive constants.

#include <functional>

#include <Eigen/Core>

namespace overlaptune {

/// Fills in the residuals of a set of constants.
using ResidualFunction =
    std::function<void(const Eigen::VectorXd& constants, Eigen::Ref<Eigen::VectorXd> residuals)>;

/// Levenberg-Marquardt over the logarithms of the constants, from `typical` and weakly drawn to it
/// (a residual of `pull` for a factor e), so that what the data leave open stays plausible.
[[nodiscard]] Eigen::VectorXd fit_positive(const Eigen::VectorXd& typical, Eigen::Index residuals,
                                           double pull, const ResidualFunction& function);

/// Linear least squares with a penalty of `ridge` on the squared coefficients.
[[nodiscard]] Eigen::VectorXd fit_ridge(const Eigen::MatrixXd& features,
                                        const Eigen::VectorXd& values, double ridge);

}  // namespace overlaptune
