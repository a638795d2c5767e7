#include "cli/flags/sequence_costs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/problem_flags.hpp"
#include "core/base/environment.hpp"
#include "core/base/text_file.hpp"
#include "core/base/units.hpp"
#include "core/platform.hpp"
#include "planning/sequences/published_costs.hpp"
#include "query/sequence_costs.hpp"

namespace overlaptune::cli {
namespace {

constexpr double kGiB = 1 << 30;

/// Refuses bandwidths that were measured on other nodes than those that are asked for.
void check_nodes(const CostFlags& flags, const PublishedCosts& read, int gpus, int per_node) {
  if (!read.per_node || std::min(*read.per_node, gpus) == std::min(per_node, gpus)) return;
  refuse(
      "--gpus-per-node {}: the bandwidths in {} are those of nodes of {} GPUs: expected "
      "--gpus-per-node {}, or --costs with bandwidths of such nodes",
      per_node, flags.costs, *read.per_node, *read.per_node);
}

ChosenCosts from_file(const CostFlags& flags, int gpus, int per_node, std::int64_t max_length) {
  const std::string text = value_or_throw(read_text_file(flags.costs));
  PublishedCosts read = value_or_throw(parse_published_costs(
      text, flags.costs, {.model = flags.model, .max_length = max_length, .gpus = gpus}));
  check_nodes(flags, read, gpus, per_node);
  ChosenCosts chosen{
      .costs = std::move(read.costs),
      .memory_bytes = read.memory_bytes,
      .sources = {fmt::format("{}coefficients in {}", flags.model.empty() ? "" : flags.model + ": ",
                              called(flags.costs))},
      .heads = read.heads};
  chosen.sources.insert(chosen.sources.end(), read.notes.begin(), read.notes.end());
  if (!read.per_node) {
    chosen.sources.push_back("bandwidths as the file gives them: it does not say for which nodes");
  }
  return chosen;
}

ChosenCosts from_database(const CostFlags& flags, int gpus, int per_node, std::int64_t max_length) {
  if (flags.model.empty()) refuse("--model: expected a config.json beside --db");
  const ModelConfig config = model_of(flags.model, flags.reading);
  MeasuredRequest request{.gpus = gpus, .per_node = per_node, .recompute = flags.recompute};
  if (!flags.costs.empty()) {
    const std::string text = value_or_throw(read_text_file(flags.costs));
    request.known = value_or_throw(parse_known_costs(text, flags.costs));
  }
  const StoredCosts stored = stored_costs(flags.database, flags.platform, config, request);
  const MeasuredCosts& measured = stored.measured;
  ChosenCosts chosen{.costs = measured.costs,
                     .memory_bytes = static_cast<double>(stored.platform.memory.count),
                     .sources = {fmt::format("{} on {}", config.name, stored.names)},
                     .heads = config.heads,
                     .simulated = is_simulated(stored.platform),
                     .assumptions = assumptions_of_attention(config, max_length)};
  chosen.sources.insert(chosen.sources.end(), measured.sources.begin(), measured.sources.end());
  return chosen;
}

}  // namespace

void add_cost_flags(CLI::App& command, CostFlags& flags) {
  add_text(command, "--costs FILE", flags.costs,
           "Coefficients as JSON; beside --db, what no probe tells (docs/sequences.md)");
  add_text(command, "--db FILE", flags.database,
           "Costs from the measurements in this database, for --model (without --costs: "
           "OVERLAPTUNE_DB)");
  add_text(command, "--platform PLATFORM", flags.platform,
           "One of the database, by name or fingerprint");
  add_text(command, "--model MODEL", flags.model,
           "A model's name in --costs; with --db, its config.json");
  add_assume_dense_flag(command, flags.reading);
  command.add_flag("--recompute", flags.recompute,
                   "With --db: keep only the inputs of layers, and run them forward twice");
  add_parsed(command, "--memory SIZE", flags.memory_bytes, parse_bytes,
             "Memory that a GPU may use (default: what --costs says, or all of the probed GPU)");
}

ChosenCosts choose_costs(CostFlags flags, int gpus, int per_node, std::int64_t max_length) {
  if (flags.costs.empty() && flags.database.empty()) {
    flags.database = environment().database.value_or("");
  }
  if (flags.costs.empty() && flags.database.empty()) {
    refuse("no costs: expected --costs FILE or --db FILE");
  }
  if (flags.database.empty() && (flags.recompute || !flags.platform.empty())) {
    refuse("{}: expected --db beside it",
           flags.recompute ? "--recompute" : "--platform " + flags.platform);
  }
  ChosenCosts chosen = flags.database.empty() ? from_file(flags, gpus, per_node, max_length)
                                              : from_database(flags, gpus, per_node, max_length);
  if (flags.memory_bytes > 0) chosen.memory_bytes = static_cast<double>(flags.memory_bytes);
  if (chosen.memory_bytes <= 0)
    refuse("--memory: expected the memory that a GPU may use, as in 28G");
  if (chosen.costs.state_bytes() + chosen.costs.token_bytes() >= chosen.memory_bytes) {
    refuse(
        "--memory {:.2f} GiB: the state of the model alone takes {:.2f} GiB of each of {} GPUs: "
        "expected more memory or more GPUs",
        chosen.memory_bytes / kGiB, chosen.costs.state_bytes() / kGiB, gpus);
  }
  return chosen;
}

}  // namespace overlaptune::cli
