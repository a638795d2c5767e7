#pragma once
// The best plan of a few sequences by enumeration of all sets, for tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "planning/sequences/costs.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune {

/// The least time of a batch of at most 12 sequences: for every set of sequences and number of GPUs
/// the best groups, then for every set the best micro-batches. O(3^n GPUs log GPUs).
inline double least_batch_time(const Costs& costs, const Gpus& gpus,
                               const std::vector<std::int64_t>& lengths) {
  constexpr double kNoTime = std::numeric_limits<double>::infinity();
  const std::size_t sets = std::size_t{1} << lengths.size();
  const auto group_time = [&](std::size_t set, int degree) {
    double work = 0;
    double tokens = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      work += costs.compute_us(lengths[i]);
      tokens += static_cast<double>(lengths[i]);
    }
    const double bytes = costs.state_bytes() + costs.token_bytes() * tokens / degree;
    if (bytes > gpus.memory_bytes) return kNoTime;
    return costs.fixed_us(degree) + work / degree + costs.exchange_us_per_token(degree) * tokens;
  };
  const auto each_part = [](std::size_t set, const auto& visit) {
    const std::size_t lowest = set & (~set + 1);  // of the set: every part must have it
    const std::size_t rest = set ^ lowest;
    for (std::size_t part = rest;; part = (part - 1) & rest) {
      visit(part | lowest);
      if (part == 0) return;
    }
  };
  const auto most = static_cast<std::size_t>(gpus.count);
  // [gpus][set]: the least time of a micro-batch on so many GPUs.
  std::vector<std::vector<double>> side_by_side(most + 1, std::vector<double>(sets, kNoTime));
  for (auto& row : side_by_side) row[0] = 0;
  for (std::size_t degree = 1; degree <= most; degree *= 2) {
    std::vector<double> alone(sets, kNoTime);
    for (std::size_t set = 1; set < sets; ++set) {
      alone[set] = group_time(set, static_cast<int>(degree));
    }
    // Groups are added from narrow to wide; several of one degree one after the other.
    for (std::size_t used = degree; used <= most; ++used) {
      auto& now = side_by_side[used];
      const auto before = side_by_side[used - degree];
      for (std::size_t set = 1; set < sets; ++set) {
        for (std::size_t part = set;; part = (part - 1) & set) {
          if (part != 0) now[set] = std::min(now[set], std::max(alone[part], before[set ^ part]));
          if (part == 0) break;
        }
      }
    }
  }
  std::vector<double> one_after_other(sets, kNoTime);
  one_after_other[0] = 0;
  for (std::size_t set = 1; set < sets; ++set) {
    each_part(set, [&](std::size_t part) {
      one_after_other[set] =
          std::min(one_after_other[set], side_by_side[most][part] + one_after_other[set ^ part]);
    });
  }
  return one_after_other.back();
}

}  // namespace overlaptune
