#include "planning/sequences/plan_sequences.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planning/sequences/lengths.hpp"
#include "planning/sequences/rates.hpp"
#include "planning/sequences/search/solver.hpp"

namespace overlaptune {
namespace {

constexpr double kGiB = 1 << 30;

Expected<void> check_gpus(const Gpus& gpus) {
  if (gpus.count < 1 || (gpus.count & (gpus.count - 1)) != 0) {
    return bad_input(fmt::format("{} GPUs: expected a power of two", gpus.count));
  }
  if (gpus.per_node < 1 || gpus.count % gpus.per_node != 0) {
    return bad_input(
        fmt::format("{} GPUs in nodes of {}: expected whole nodes", gpus.count, gpus.per_node));
  }
  return {};
}

Expected<void> check_lengths(const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return bad_input("lengths: expected at least one, found none");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 1 && lengths[i] <= kLongestSequence) continue;
    return bad_input(fmt::format("lengths[{}] = {}: expected 1 to 2^40 - 1", i, lengths[i]));
  }
  return {};
}

Expected<void> check_memory(const Rates& rates, const std::vector<std::int64_t>& lengths) {
  const int level = rates.levels() - 1;
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (rates.padded(longest, level) <= rates.capacity(level)) return {};
  return bad_input(
      fmt::format("a sequence of {} tokens on {} GPUs of {:.1f} GiB: expected at most {} tokens",
                  longest, 1 << level, rates.gpus().memory_bytes / kGiB, rates.capacity(level)));
}

}  // namespace

Expected<BatchPlan> plan_sequences(const Costs& costs, const BatchQuestion& question) {
  if (const auto checked = check_gpus(question.gpus); !checked) return error_of(checked);
  if (const auto checked = check_lengths(question.lengths); !checked) return error_of(checked);
  if (costs.state_bytes() >= question.gpus.memory_bytes) {
    return bad_input(
        fmt::format("the state of the model needs {:.1f} GiB of the {:.1f} GiB of a "
                    "GPU: expected more memory or more GPUs",
                    costs.state_bytes() / kGiB, question.gpus.memory_bytes / kGiB));
  }
  try {
    const ChosenLimits allowed =
        choose_limits(question.limits, question.gpus.count, question.heads);
    const Rates rates(costs, question.gpus, allowed.limits);
    if (const auto checked = check_memory(rates, question.lengths); !checked) {
      return error_of(checked);
    }
    BatchPlan plan = plan_batch(rates, question.lengths);
    if (!plan.micro_batches.empty()) return plan;
    return bad_input(fmt::format("{} sequences: too few for a multiple of {} micro-batches",
                                 question.lengths.size(), allowed.limits.micro_batches));
  } catch (const Failure& failure) {
    return tl::make_unexpected(Error{failure.kind(), failure.what()});
  }
}

}  // namespace overlaptune
