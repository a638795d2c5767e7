#include "planning/sequences/search/assemble.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>
#include <utility>

namespace overlaptune {
namespace {

MicroBatch micro_batch_of(const Runs& runs, const Filled& filled) {
  std::vector<Group> groups(filled.groups.size());
  for (const Part& part : filled.parts) {
    Group& group = groups[static_cast<std::size_t>(part.group)];
    group.sequences.insert(group.sequences.end(), static_cast<std::size_t>(part.count),
                           runs.length(part.run));
  }
  MicroBatch made;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group& group = groups[i];
    const int level = filled.groups[i].level;
    group.degree = 1 << level;
    std::sort(group.sequences.begin(), group.sequences.end(), std::greater<>());
    // Times are summed anew: a search adds and subtracts, which rounds.
    group.time_us = runs.rates().fixed(level);
    for (const std::int64_t length : group.sequences) {
      const std::int64_t tokens = runs.rates().padded(length, level);
      group.tokens += tokens;
      group.time_us += runs.rates().time(tokens, level);
    }
    group.memory_bytes = runs.rates().memory(group.tokens, level);
    made.time_us = std::max(made.time_us, group.time_us);
  }
  std::ranges::stable_sort(groups, std::greater{}, &Group::degree);
  int next = 0;
  for (Group& group : groups) {
    group.first_gpu = next;
    next += group.degree;
  }
  made.groups = std::move(groups);
  return made;
}

}  // namespace

BatchPlan plan_of(const Runs& runs, std::span<const Filled> micro_batches) {
  BatchPlan plan;
  for (const Filled& filled : micro_batches) {
    const MicroBatch& part = plan.micro_batches.emplace_back(micro_batch_of(runs, filled));
    plan.time_us += part.time_us;
    const Group& slowest = *std::ranges::max_element(part.groups, {}, &Group::time_us);
    const int level = std::countr_zero(static_cast<unsigned>(slowest.degree));
    plan.exchange_us += runs.rates().exchange(slowest.tokens, level);
    for (const Group& group : part.groups) plan.tokens += group.tokens;
  }
  return plan;
}

void find_members(BatchPlan& plan, std::span<const std::int64_t> lengths) {
  std::unordered_map<std::int64_t, std::vector<std::size_t>> places;
  for (std::size_t i = lengths.size(); i-- > 0;) places[lengths[i]].push_back(i);
  for (MicroBatch& part : plan.micro_batches) {
    for (Group& group : part.groups) {
      group.members.clear();
      for (const std::int64_t length : group.sequences) {
        std::vector<std::size_t>& left = places.at(length);
        group.members.push_back(left.back());
        left.pop_back();
      }
    }
  }
}

}  // namespace overlaptune
