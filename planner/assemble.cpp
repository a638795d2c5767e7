#include "planner/assemble.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace overlaptune {

MicroBatch micro_batch_of(const Rates& rates, std::span<const Run> runs, const Filled& filled) {
  std::vector<Group> groups(filled.groups.size());
  for (const Part& part : filled.parts) {
    Group& group = groups[static_cast<std::size_t>(part.group)];
    group.sequences.insert(group.sequences.end(), static_cast<std::size_t>(part.count),
                           runs[static_cast<std::size_t>(part.run)].length);
  }
  MicroBatch made;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group& group = groups[i];
    const int level = filled.groups[i].level;
    group.degree = 1 << level;
    std::sort(group.sequences.begin(), group.sequences.end(), std::greater<>());
    // Times are summed anew: local search adds and subtracts, which rounds.
    group.time_us = rates.fixed(level);
    for (const std::int64_t length : group.sequences) {
      group.tokens += length;
      group.time_us += rates.time(length, level);
    }
    group.memory_bytes = rates.memory(group.tokens, level);
    made.time_us = std::max(made.time_us, group.time_us);
  }
  // Widest first: with powers of two, every group then begins at a multiple of its degree.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.degree > b.degree; });
  int next = 0;
  for (Group& group : groups) {
    group.first_gpu = next;
    next += group.degree;
  }
  made.groups = std::move(groups);
  return made;
}

void add_up(const Rates& rates, BatchPlan& plan) {
  for (const MicroBatch& part : plan.micro_batches) {
    plan.time_us += part.time_us;
    const auto slowest =
        std::max_element(part.groups.begin(), part.groups.end(),
                         [](const Group& a, const Group& b) { return a.time_us < b.time_us; });
    int level = 0;
    while ((1 << level) < slowest->degree) ++level;
    plan.exchange_us += rates.exchange(slowest->tokens, level);
    for (const Group& group : part.groups) plan.tokens += group.tokens;
  }
}

}  // namespace overlaptune
