#include "planning/sequences/plan_sequences.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planning/sequences/lengths.hpp"
#include "planning/sequences/rates.hpp"
#include "planning/sequences/search/solver.hpp"

namespace overlaptune {
namespace {

constexpr double kGiB = 1 << 30;

[[noreturn]] void refuse(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

void check_gpus(const Gpus& gpus) {
  if (gpus.count < 1 || (gpus.count & (gpus.count - 1)) != 0) {
    refuse(fmt::format("{} GPUs: expected a power of two", gpus.count));
  }
  if (gpus.per_node < 1 || gpus.count % gpus.per_node != 0) {
    refuse(fmt::format("{} GPUs in nodes of {}: expected whole nodes", gpus.count, gpus.per_node));
  }
}

void check_lengths(const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) refuse("lengths: expected at least one, found none");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 1 && lengths[i] <= kLongestSequence) continue;
    refuse(fmt::format("lengths[{}] = {}: expected 1 to 2^40 - 1", i, lengths[i]));
  }
}

void check_memory(const Rates& rates, const std::vector<std::int64_t>& lengths) {
  const int level = rates.levels() - 1;
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (rates.padded(longest, level) <= rates.capacity(level)) return;
  refuse(fmt::format("a sequence of {} tokens on {} GPUs of {:.1f} GiB: expected at most {} tokens",
                     longest, 1 << level, rates.gpus().memory_bytes / kGiB, rates.capacity(level)));
}

}  // namespace

Expected<BatchPlan> plan_sequences(const Costs& costs, const BatchQuestion& question) {
  return outcome_of([&] {
    check_gpus(question.gpus);
    check_lengths(question.lengths);
    if (costs.state_bytes() >= question.gpus.memory_bytes) {
      refuse(
          fmt::format("the state of the model needs {:.1f} GiB of the {:.1f} GiB of a "
                      "GPU: expected more memory or more GPUs",
                      costs.state_bytes() / kGiB, question.gpus.memory_bytes / kGiB));
    }
    const ChosenLimits allowed =
        choose_limits(question.limits, question.gpus.count, question.heads);
    const Rates rates(costs, question.gpus, allowed.limits);
    check_memory(rates, question.lengths);
    BatchPlan plan = plan_batch(rates, question.lengths);
    if (plan.micro_batches.empty()) {
      refuse(fmt::format("{} sequences: too few for a multiple of {} micro-batches",
                         question.lengths.size(), allowed.limits.micro_batches));
    }
    return plan;
  });
}

}  // namespace overlaptune
