#include "cli/sequence_costs.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "core/units.hpp"
#include "planner/published_costs.hpp"
#include "tuner/text_file.hpp"

namespace overlaptune::cli {
namespace {

constexpr std::size_t kMostCostsBytes = 1'000'000;

[[noreturn]] void bad_costs(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

ChosenCosts from_file(const CostFlags& flags, int gpus, std::int64_t max_length) {
  const std::string text = value_or_throw(read_text_file(flags.costs, kMostCostsBytes));
  PublishedCosts read = value_or_throw(parse_published_costs(
      text, flags.costs, {.model = flags.model, .max_length = max_length, .gpus = gpus}));
  return {.costs = std::move(read.costs),
          .memory_bytes = read.memory_bytes,
          .source = {fmt::format("{} by the coefficients in {}",
                                 flags.model.empty() ? "the model" : flags.model, flags.costs)}};
}

}  // namespace

void add_cost_flags(CLI::App& command, CostFlags& flags) {
  command.add_option("--costs", flags.costs, "Costs as JSON (docs/sequences.md)")
      ->type_name("FILE");
  command.add_option("--model", flags.model, "The model's name in --costs")->type_name("MODEL");
  add_parsed(command, "--memory", flags.memory_bytes, parse_size,
             "Memory that a GPU may use (default: what --costs says)")
      ->type_name("SIZE");
}

ChosenCosts choose_costs(const CostFlags& flags, int gpus, int /*gpus_per_node*/,
                         std::int64_t max_length) {
  if (flags.costs.empty()) bad_costs("no costs given: expected --costs FILE");
  ChosenCosts chosen = from_file(flags, gpus, max_length);
  if (flags.memory_bytes > 0) chosen.memory_bytes = static_cast<double>(flags.memory_bytes);
  if (chosen.memory_bytes <= 0)
    bad_costs("--memory: expected the memory that a GPU may use, as in 28G");
  if (chosen.costs.state_bytes() + chosen.costs.token_bytes() >= chosen.memory_bytes) {
    bad_costs(
        fmt::format("--memory {:.2f} GiB: the state of the model takes {:.2f} GiB of each of {} "
                    "GPUs: expected more memory or more GPUs",
                    chosen.memory_bytes / (1 << 30), chosen.costs.state_bytes() / (1 << 30), gpus));
  }
  return chosen;
}

}  // namespace overlaptune::cli
