#pragma once
// Launches of a generated GEMM that a plan keeps ready, because making one takes microseconds.

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "run/generated_kernel.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// One launch for each set of operands, made when it is first asked for.
class Launches {
 public:
  using Prepare = std::function<GeneratedLaunch(const Operands&)>;

  /// `first`: sets of operands whose launches are made now.
  Launches(std::span<const Operands> first, Prepare prepare) : prepare_(std::move(prepare)) {
    for (const Operands& operands : first) launches_.emplace_back(operands, prepare_(operands));
  }

  [[nodiscard]] const GeneratedLaunch& operator[](const Operands& operands) {
    auto known = std::find_if(launches_.begin(), launches_.end(),
                              [&](const auto& each) { return each.first == operands; });
    if (known == launches_.end()) {
      if (launches_.size() == kMost) launches_.erase(launches_.begin());
      known = launches_.emplace(launches_.end(), operands, prepare_(operands));
    }
    return known->second;
  }

  /// Every launch is made again when it is next asked for.
  void clear() { launches_.clear(); }

 private:
  /// More sets of operands than a program alternates between.
  static constexpr std::size_t kMost = 64;

  Prepare prepare_;
  std::vector<std::pair<Operands, GeneratedLaunch>> launches_{};
};

}  // namespace overlaptune::run
