#include "planning/sequences/limits.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace overlaptune {
namespace {

constexpr int kPad = 2;  // causal attention is shared out in twice as many pieces as GPUs

[[noreturn]] void bad_limit(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

/// The greatest power of two that divides a number.
std::int64_t power_in(std::int64_t number) {
  return number & -number;
}

void check_degree(const char* flag, int degree, int gpus) {
  if ((degree & (degree - 1)) != 0 || degree > gpus) {
    bad_limit(fmt::format("{} {}: expected a power of two, at most --gpus {}", flag, degree, gpus));
  }
}

}  // namespace

ChosenLimits choose_limits(const AskedLimits& asked, int gpus, std::optional<std::int64_t> heads) {
  ChosenLimits chosen;
  Limits& limits = chosen.limits;
  limits.least_degree = asked.least_degree.value_or(1);
  limits.most_degree = asked.most_degree;
  limits.sequences_of_group = asked.group_sequences;
  limits.micro_batches = asked.micro_batches.value_or(1);
  limits.padding = asked.pad.value_or(kPad * gpus);
  limits.padding_by_degree = asked.pad.has_value();
  if (asked.least_degree) check_degree("--least-degree", *asked.least_degree, gpus);
  if (asked.most_degree) check_degree("--most-degree", *asked.most_degree, gpus);
  if (asked.heads) heads = *asked.heads;
  if (!heads) {
    chosen.notes.emplace_back(
        "the heads of the model are not known, and a degree must divide them: give --heads");
  } else if (power_in(*heads) < limits.most_degree.value_or(gpus)) {
    limits.most_degree = static_cast<int>(power_in(*heads));
    chosen.heads_bound = true;
    chosen.notes.push_back(
        fmt::format("groups have at most {} GPUs, because {} heads are divided "
                    "among them",
                    *limits.most_degree, *heads));
  }
  const int most = limits.most_degree.value_or(gpus);
  if (limits.least_degree > most) {
    bad_limit(
        fmt::format("--least-degree {}: expected at most {}, the widest group that is allowed",
                    limits.least_degree, most));
  }
  return chosen;
}

}  // namespace overlaptune
