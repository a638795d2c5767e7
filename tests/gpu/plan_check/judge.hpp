#pragma once
// Whether the results of a list of plans are right.

#include <algorithm>
#include <string>

#include "kernels/deviation.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// Judges results by that of `sequential`, which is the first one.
class Judge {
 public:
  void row(const std::string& name, const kernels::Deviation& seen, Results& results) {
    const bool right = seen.not_finite == 0 && seen.largest <= allowed_;
    results.row(name, right,
                fmt::format("relative error {:.2e}, at most {:.2e}; {} not finite", seen.largest,
                            allowed_, seen.not_finite));
    if (first_) allowed_ = std::max(kAllowance * seen.largest, 1.0 / 512);
    first_ = false;
  }

 private:
  /// Upper limit of a plan's relative error, as a multiple of that of `sequential` on the same
  /// inputs.
  static constexpr double kAllowance = 1.5;
  /// Upper limit of the relative error of `sequential`: the rounding of the elements and of every
  /// sum on the way.
  static constexpr double kMostRounding = 0.03;

  bool first_ = true;
  double allowed_ = kMostRounding;
};

}  // namespace overlaptune::plan_check
