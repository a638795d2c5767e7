#include "planning/sequences/simple_plans.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/index.hpp"
#include "planning/sequences/search/assemble.hpp"
#include "planning/sequences/search/bins.hpp"
#include "planning/sequences/search/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr int kFewer = 2;      // micro-batches than the packed plan has, that are tried
constexpr int kVainParts = 3;  // numbers of micro-batches that may be tried without a gain
constexpr double kGainOfParts = 1 - 1e-3;

std::size_t least_group(const Filled& filled) {
  return static_cast<std::size_t>(std::ranges::min_element(filled.groups, {}, &OpenGroup::time) -
                                  filled.groups.begin());
}

/// Time that one micro-batch more costs where this one is divided.
double price(const Runs& runs, const Filled& filled) {
  const OpenGroup& least = filled.groups[least_group(filled)];
  if (filled.groups.size() > 1) return least.time;
  return least.sequences > 1 ? runs.rates().fixed(least.level) : kNever;
}

/// Takes the group with the least work out, or half the sequences of the only one.
Filled divide(const Runs& runs, Filled& filled) {
  const std::size_t least = least_group(filled);
  const bool alone = filled.groups.size() == 1;
  const OpenGroup empty{.level = filled.groups[least].level,
                        .time = runs.rates().fixed(filled.groups[least].level)};
  const int half = filled.groups[least].sequences / 2;
  Filled rest{.groups = filled.groups};
  for (OpenGroup& group : rest.groups) {
    group = {.level = group.level, .time = runs.rates().fixed(group.level)};
  }
  Filled taken{.groups = {empty}};
  for (Part part : filled.parts) {
    const int wanted = alone ? half - taken.groups.front().sequences : part.count;
    const int moved = index(part.group) == least ? std::min(part.count, wanted) : 0;
    if (moved > 0) taken.put(runs, {0, part.run, moved});
    part.count -= moved;
    if (part.count > 0) rest.put(runs, part);
  }
  if (!alone) {
    rest.groups.erase(rest.groups.begin() + static_cast<std::ptrdiff_t>(least));
    for (Part& part : rest.parts) part.group -= part.group > static_cast<int>(least) ? 1 : 0;
  }
  filled = std::move(rest);
  return taken;
}

}  // namespace

double time_of(const std::vector<Filled>& micro_batches) {
  if (micro_batches.empty()) return kNever;
  double time = 0;
  for (const Filled& part : micro_batches) time += part.groups.empty() ? kNever : part.time();
  return time;
}

void divide_to_multiple(const Runs& runs, std::vector<Filled>& micro_batches) {
  const auto multiple = static_cast<std::size_t>(runs.rates().limits().micro_batches);
  if (time_of(micro_batches) == kNever) return;
  while (micro_batches.size() % multiple != 0) {
    const auto at = std::ranges::min_element(micro_batches, {},
                                             [&](const Filled& each) { return price(runs, each); });
    if (price(runs, *at) == kNever) return micro_batches.clear();
    Filled divided = divide(runs, *at);
    micro_batches.push_back(std::move(divided));
  }
}

std::vector<Filled> simple_plan(const Runs& runs, int level) {
  std::vector<Filled> best;
  double least = kNever;
  const auto keep = [&](std::vector<Filled> made) {
    divide_to_multiple(runs, made);
    const double time = time_of(made);
    const bool gained = time < least * kGainOfParts;
    if (time < least) {
      least = time;
      best = std::move(made);
    }
    return gained;
  };
  if (runs.size() == 0 || runs.holding_level(0, level) == runs.rates().levels()) return {};
  keep(side_by_side(runs, packed_groups(runs, level, false)));
  const int packed = static_cast<int>(best.size());
  keep(side_by_side(runs, packed_groups(runs, level, true)));
  keep(filled_to_memory(runs, level));
  const int fewest = fewest_micro_batches(runs, runs.counts());
  int vain = 0;
  for (int parts = std::max(fewest, packed - kFewer); vain < kVainParts; ++parts) {
    const Filled groups = spread_groups(runs, level, parts);
    const bool gained = !groups.groups.empty() && keep(side_by_side(runs, groups));
    vain = gained || parts < packed ? 0 : vain + 1;
  }
  return best;
}

std::optional<BatchPlan> plan_with_level(const Runs& runs, int level) {
  // A sequence that does not fit would get a wider group.
  if (runs.size() == 0 || runs.holding_level(0, level) != level) return std::nullopt;
  const std::vector<Filled> made = simple_plan(runs, level);
  if (made.empty()) return std::nullopt;
  return plan_of(runs, made);
}

}  // namespace overlaptune
