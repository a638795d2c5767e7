#include "cli/sequence_costs.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/problem_flags.hpp"
#include "core/platform.hpp"
#include "core/text_file.hpp"
#include "core/units.hpp"
#include "db/store.hpp"
#include "planner/measured_costs.hpp"
#include "planner/published_costs.hpp"

namespace overlaptune::cli {
namespace {

constexpr double kGiB = 1 << 30;

[[noreturn]] void bad_costs(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

/// Refuses bandwidths that were measured on other nodes than those that are asked for.
void check_nodes(const CostFlags& flags, const PublishedCosts& read, int gpus, int per_node) {
  if (!read.per_node || std::min(*read.per_node, gpus) == std::min(per_node, gpus)) return;
  bad_costs(
      fmt::format("--gpus-per-node {}: the bandwidths in {} are those of nodes of {} GPUs: "
                  "expected --gpus-per-node {}, or --costs with bandwidths of such nodes",
                  per_node, flags.costs, *read.per_node, *read.per_node));
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
                              flags.costs)},
      .heads = read.heads};
  if (!read.per_node) {
    chosen.sources.push_back("bandwidths as the file gives them: it does not say for which nodes");
  }
  return chosen;
}

/// The same GPUs on the same links, in whatever number.
bool alike(const Platform& a, const Platform& b) {
  return a.machine == b.machine && a.gpu_model == b.gpu_model && a.link == b.link;
}

/// The chosen platform and those that differ from it in the number of GPUs; most GPUs first.
std::vector<StoredPlatform> family(const Store& store, const CostFlags& flags) {
  std::vector<StoredPlatform> list = store.platforms();
  if (list.empty())
    bad_costs(fmt::format("{}: no platform in it: expected probes", flags.database));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.platform.gpu_count > b.platform.gpu_count;
  });
  const Platform chosen = flags.platform.empty()
                              ? list.front().platform
                              : value_or_throw(store.platform(flags.platform)).platform;
  if (flags.platform.empty()) {
    for (const StoredPlatform& other : list) {
      if (alike(chosen, other.platform)) continue;
      bad_costs(fmt::format("{}: {} and {} are different GPUs or links: expected --platform NAME",
                            flags.database, full_name(chosen), full_name(other.platform)));
    }
  }
  std::erase_if(list, [&](const auto& other) { return !alike(chosen, other.platform); });
  std::stable_partition(list.begin(), list.end(), [&](const auto& other) {
    return fingerprint(other.platform) == fingerprint(chosen);
  });
  return list;
}

ChosenCosts from_database(const CostFlags& flags, int gpus, int per_node, std::int64_t max_length) {
  if (flags.model.empty()) bad_costs("--model: expected a config.json beside --db");
  const ModelConfig config = value_or_throw(read_model_config(flags.model, flags.reading));
  MeasuredRequest request{.gpus = gpus, .per_node = per_node, .recompute = flags.recompute};
  if (!flags.costs.empty()) {
    const std::string text = value_or_throw(read_text_file(flags.costs));
    request.known = value_or_throw(parse_known_costs(text, flags.costs));
  }
  const Store store(flags.database, Access::read);
  const std::vector<StoredPlatform> platforms = family(store, flags);
  std::vector<Model> models;
  std::string names;
  for (const StoredPlatform& each : platforms) {
    auto model = Model::fit(each.platform, store.measurements(each.id));
    if (!model && models.empty()) {
      bad_costs(fmt::format("{}: {}: {}", flags.database, full_name(each.platform),
                            model.error().message));
    }
    if (!model) continue;
    models.push_back(std::move(*model));
    names += (names.empty() ? "" : ", ") + full_name(each.platform);
  }
  MeasuredCosts measured = value_or_throw(measured_costs(config, models, request));
  ChosenCosts chosen{.costs = std::move(measured.costs),
                     .memory_bytes = static_cast<double>(platforms.front().platform.memory.count),
                     .sources = {fmt::format("{} on {}", config.name, names)},
                     .heads = config.heads,
                     .simulated = is_simulated(platforms.front().platform),
                     .assumptions = assumptions_of_attention(config, max_length)};
  chosen.sources.insert(chosen.sources.end(), measured.sources.begin(), measured.sources.end());
  return chosen;
}

}  // namespace

void add_cost_flags(CLI::App& command, CostFlags& flags) {
  command
      .add_option("--costs", flags.costs,
                  "Coefficients as JSON; beside --db, what no probe tells (docs/sequences.md)")
      ->type_name("FILE");
  command
      .add_option("--db", flags.database,
                  "Costs from the measurements in this database, for --model (without --costs: "
                  "OVERLAPTUNE_DB)")
      ->type_name("FILE");
  command.add_option("--platform", flags.platform, "One of the database, by name or fingerprint")
      ->type_name("PLATFORM");
  command
      .add_option("--model", flags.model, "A model's name in --costs; with --db, its config.json")
      ->type_name("MODEL");
  add_assume_dense_flag(command, flags.reading);
  command.add_flag("--recompute", flags.recompute,
                   "With --db: keep only the inputs of layers, and run them forward twice");
  add_parsed(command, "--memory", flags.memory_bytes, parse_bytes,
             "Memory that a GPU may use (default: what --costs says, or all of the probed GPU)")
      ->type_name("SIZE");
}

ChosenCosts choose_costs(CostFlags flags, int gpus, int per_node, std::int64_t max_length) {
  const char* variable = std::getenv(kDatabaseVariable);
  if (flags.costs.empty() && flags.database.empty() && variable != nullptr) {
    flags.database = variable;
  }
  if (flags.costs.empty() && flags.database.empty()) {
    bad_costs("no costs: expected --costs FILE or --db FILE");
  }
  if (flags.database.empty() && (flags.recompute || !flags.platform.empty())) {
    bad_costs(fmt::format("{}: expected --db beside it",
                          flags.recompute ? "--recompute" : "--platform " + flags.platform));
  }
  ChosenCosts chosen = flags.database.empty() ? from_file(flags, gpus, per_node, max_length)
                                              : from_database(flags, gpus, per_node, max_length);
  if (flags.memory_bytes > 0) chosen.memory_bytes = static_cast<double>(flags.memory_bytes);
  if (chosen.memory_bytes <= 0)
    bad_costs("--memory: expected the memory that a GPU may use, as in 28G");
  if (chosen.costs.state_bytes() + chosen.costs.token_bytes() >= chosen.memory_bytes) {
    bad_costs(fmt::format(
        "--memory {:.2f} GiB: the state of the model alone takes {:.2f} GiB of each of {} GPUs: "
        "expected more memory or more GPUs",
        chosen.memory_bytes / kGiB, chosen.costs.state_bytes() / kGiB, gpus));
  }
  return chosen;
}

}  // namespace overlaptune::cli
