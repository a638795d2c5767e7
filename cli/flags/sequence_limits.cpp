#include "cli/flags/sequence_limits.hpp"

#include "cli/command.hpp"
#include "cli/flags/problem_flags.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kLargestLimit = 65'536;

}  // namespace

void add_limit_flags(CLI::App& command, AskedLimits& flags) {
  add_parsed(command, "--heads", flags.heads, whole_number(1, kLargestLimit),
             "Heads of attention, which a degree divides (default: what the model says)")
      ->type_name("N");
  add_parsed(command, "--least-degree", flags.least_degree, whole_number(1, kLargestLimit),
             "Least GPUs of a group: a power of two")
      ->type_name("N");
  add_parsed(command, "--most-degree", flags.most_degree, whole_number(1, kLargestLimit),
             "Most GPUs of a group: a power of two")
      ->type_name("N");
  add_parsed(command, "--group-sequences", flags.group_sequences, whole_number(1, kLargestLimit),
             "Most sequences that a group packs into one micro-batch")
      ->type_name("N");
  add_parsed(command, "--micro-batch-multiple", flags.micro_batches, whole_number(1, kLargestLimit),
             "The number of micro-batches is a multiple of this, as pipelines need")
      ->type_name("N");
  add_parsed(
      command, "--pad", flags.pad, whole_number(1, kLargestLimit),
      "A group of degree d pads its sequences to multiples of N times d (default: all groups "
      "pad to multiples of twice --gpus)")
      ->type_name("N");
}

}  // namespace overlaptune::cli
