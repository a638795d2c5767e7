#pragma once
// Plans as one would make them by hand, from the formulas of docs/sequences.md alone: a judge for
// tests.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "planning/sequences/costs.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune::by_hand {

constexpr double kNoTime = std::numeric_limits<double>::infinity();

/// A group while sequences are put into it.
struct Group {
  int degree = 1;
  double time = 0;
  double tokens = 0;
};

inline double added(const Coefficients& costs, std::int64_t length, int degree) {
  const auto s = static_cast<double>(length);
  return (costs.quadratic_us * s + costs.linear_us) * s / degree +
         costs.exchange_us_per_token(degree) * s;
}

inline double capacity(const Coefficients& costs, const Gpus& gpus, int degree) {
  return std::floor((gpus.memory_bytes - costs.bytes_of_state) * degree / costs.bytes_of_token);
}

/// The group of a degree with the least work that holds a sequence; null: none.
inline Group* least_of(std::vector<Group>& groups, int degree, double room, double length) {
  Group* least = nullptr;
  for (Group& group : groups) {
    if (group.degree != degree || group.tokens + length > room) continue;
    if (least == nullptr || group.time < least->time) least = &group;
  }
  return least;
}

/// Groups of one degree, longest sequences first, each to the group with the least work; the groups
/// with the most work run together. The best of `tried` numbers of micro-batches.
inline double one_degree(const Coefficients& costs, const Gpus& gpus,
                         std::vector<std::int64_t> lengths, int degree, int tried) {
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  const double room = capacity(costs, gpus, degree);
  const int width = gpus.count / degree;
  double tokens = 0;
  for (const std::int64_t length : lengths) tokens += static_cast<double>(length);
  const int fewest = std::max(1, static_cast<int>(std::ceil(tokens / room / width)));
  double best = kNoTime;
  for (int number = fewest; number < fewest + tried; ++number) {
    std::vector<Group> groups(static_cast<std::size_t>(number * width),
                              {degree, costs.fixed_us(degree), 0});
    bool all = true;
    for (const std::int64_t length : lengths) {
      Group* group = least_of(groups, degree, room, static_cast<double>(length));
      all = group != nullptr;
      if (!all) break;
      group->time += added(costs, length, degree);
      group->tokens += static_cast<double>(length);
    }
    if (!all) continue;
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.time > b.time; });
    double time = 0;
    for (std::size_t i = 0; i < groups.size(); i += static_cast<std::size_t>(width)) {
      if (groups[i].tokens > 0) time += groups[i].time;
    }
    best = std::min(best, time);
  }
  return best;
}

/// Micro-batch after micro-batch, each filled until the memory holds no more. Every sequence, the
/// longest first, gets the narrowest degree from `least` on that holds it: a new group, or the one
/// with the least work.
inline double filled(const Coefficients& costs, const Gpus& gpus, std::vector<std::int64_t> lengths,
                     int least) {
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  double total = 0;
  while (!lengths.empty()) {
    std::vector<Group> groups;
    std::vector<std::int64_t> rest;
    int left = gpus.count;
    for (const std::int64_t length : lengths) {
      const auto s = static_cast<double>(length);
      int degree = least;
      while (degree < gpus.count && capacity(costs, gpus, degree) < s) degree *= 2;
      Group* group = nullptr;
      if (left >= degree) {
        left -= degree;
        group = &groups.emplace_back(Group{degree, costs.fixed_us(degree), 0});
      } else {
        group = least_of(groups, degree, capacity(costs, gpus, degree), s);
      }
      if (group == nullptr) {
        rest.push_back(length);
        continue;
      }
      group->time += added(costs, length, degree);
      group->tokens += s;
    }
    double slowest = 0;
    for (const Group& group : groups) slowest = std::max(slowest, group.time);
    total += slowest;
    lengths = std::move(rest);
  }
  return total;
}

/// The best of both over all degrees.
inline double best_time(const Coefficients& costs, const Gpus& gpus,
                        const std::vector<std::int64_t>& lengths) {
  double best = kNoTime;
  const auto longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  for (int degree = 1; degree <= gpus.count; degree *= 2) {
    best = std::min(best, filled(costs, gpus, lengths, degree));
    if (longest <= capacity(costs, gpus, degree)) {
      best = std::min(best, one_degree(costs, gpus, lengths, degree, 8));
    }
  }
  return best;
}

}  // namespace overlaptune::by_hand
