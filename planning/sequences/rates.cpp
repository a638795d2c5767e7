#include "planning/sequences/rates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace overlaptune {

Rates::Rates(const Costs& costs, const Gpus& gpus, const Limits& limits)
    : costs_(&costs),
      gpus_(gpus),
      limits_(limits),
      least_level_(std::countr_zero(static_cast<unsigned>(limits.least_degree))) {
  const double free = gpus.memory_bytes - costs.state_bytes();
  const auto held = [&](int degree) {
    return static_cast<std::int64_t>(std::floor(free * degree / costs.token_bytes()));
  };
  capacity_ = held(gpus.count);
  const int most = std::min(gpus.count, limits.most_degree.value_or(gpus.count));
  for (int degree = 1; degree <= most; degree *= 2) {
    const bool allowed = degree >= limits.least_degree;
    levels_.push_back({.share = 1.0 / degree,
                       .exchange = costs.exchange_us_per_token(degree),
                       .fixed = allowed ? costs.fixed_us(degree) : kNever,
                       .capacity = allowed ? held(degree) : 0});
  }
}

double Rates::least_fixed() const {
  double least = fixed(least_level_);
  for (int level = least_level_; level < levels(); ++level) least = std::min(least, fixed(level));
  return least;
}

}  // namespace overlaptune
