#include "planner/rates.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace overlaptune {

std::vector<Run> runs_of(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<Run> runs;
  for (const std::int64_t length : sorted) {
    if (runs.empty() || runs.back().length != length) runs.push_back({length, 0});
    ++runs.back().count;
  }
  return runs;
}

Rates::Rates(const Costs& costs, const Cluster& cluster) : costs_(&costs), cluster_(cluster) {
  const double free = cluster.memory_bytes - costs.state_bytes();
  for (int degree = 1; degree <= cluster.gpus; degree *= 2) {
    levels_.push_back(
        {.share = 1.0 / degree,
         .exchange = costs.exchange_us_per_token(degree),
         .fixed = costs.fixed_us(degree),
         .capacity = static_cast<std::int64_t>(std::floor(free * degree / costs.token_bytes()))});
  }
}

std::optional<int> Rates::least_level(std::int64_t length) const {
  for (int level = 0; level < levels(); ++level) {
    if (capacity(level) >= length) return level;
  }
  return std::nullopt;
}

}  // namespace overlaptune
