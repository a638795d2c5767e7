#include "planner/rates.hpp"

#include <algorithm>
#include <cmath>

namespace overlaptune {

Rates::Rates(const Costs& costs, const Gpus& gpus) : costs_(&costs), gpus_(gpus) {
  const double free = gpus.memory_bytes - costs.state_bytes();
  for (int degree = 1; degree <= gpus.count; degree *= 2) {
    levels_.push_back(
        {.share = 1.0 / degree,
         .exchange = costs.exchange_us_per_token(degree),
         .fixed = costs.fixed_us(degree),
         .capacity = static_cast<std::int64_t>(std::floor(free * degree / costs.token_bytes()))});
  }
}

double Rates::least_fixed() const {
  double least = fixed(0);
  for (int level = 1; level < levels(); ++level) least = std::min(least, fixed(level));
  return least;
}

}  // namespace overlaptune
