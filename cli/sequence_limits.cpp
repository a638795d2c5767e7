#include "cli/sequence_limits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/problem_flags.hpp"
#include "core/error.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMost = 65'536;
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

void add_limit_flags(CLI::App& command, LimitFlags& flags) {
  add_parsed(command, "--heads", flags.heads, whole_number(1, kMost),
             "Heads of attention, which a degree divides (default: what the model says)")
      ->type_name("N");
  add_parsed(command, "--least-degree", flags.least_degree, whole_number(1, kMost),
             "Least GPUs of a group: a power of two")
      ->type_name("N");
  add_parsed(command, "--most-degree", flags.most_degree, whole_number(1, kMost),
             "Most GPUs of a group: a power of two")
      ->type_name("N");
  add_parsed(command, "--group-sequences", flags.group_sequences, whole_number(1, kMost),
             "Most sequences that a group packs into one micro-batch")
      ->type_name("N");
  add_parsed(command, "--micro-batch-multiple", flags.micro_batches, whole_number(1, kMost),
             "The number of micro-batches is a multiple of this, as pipelines need")
      ->type_name("N");
  add_parsed(
      command, "--pad", flags.pad, whole_number(1, kMost),
      "A group of degree d pads its sequences to multiples of N times d (default: all groups "
      "pad to multiples of twice --gpus)")
      ->type_name("N");
}

ChosenLimits choose_limits(const LimitFlags& flags, int gpus, std::optional<std::int64_t> heads) {
  ChosenLimits chosen;
  Limits& limits = chosen.limits;
  limits.least_degree = flags.least_degree.value_or(1);
  limits.most_degree = flags.most_degree;
  limits.sequences_of_group = flags.group_sequences;
  limits.micro_batches = flags.micro_batches.value_or(1);
  limits.padding = flags.pad.value_or(kPad * gpus);
  limits.padding_by_degree = flags.pad.has_value();
  if (flags.least_degree) check_degree("--least-degree", *flags.least_degree, gpus);
  if (flags.most_degree) check_degree("--most-degree", *flags.most_degree, gpus);
  if (flags.heads) heads = *flags.heads;
  if (!heads) {
    chosen.notes.emplace_back(
        "the heads of the model are not known, and a degree must divide them: give --heads");
  } else if (power_in(*heads) < limits.most_degree.value_or(gpus)) {
    limits.most_degree = static_cast<int>(power_in(*heads));
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

}  // namespace overlaptune::cli
