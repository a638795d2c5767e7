#include "cli/flags/measured_flags.hpp"

#include <array>

#include "cli/flags/problem_flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/progress.hpp"
#include "core/base/environment.hpp"
#include "probes/probes.hpp"

namespace overlaptune::cli {
namespace {

std::vector<Measurement> quick_measurements(Machine& machine, const std::vector<int>& ranks,
                                            const ModelConfig& config) {
  // The elements of the products: the model's own, and bf16 of what it leaves in 16 bits.
  const std::array elements{Elements::bf16, config.elements};
  const std::vector<Probe> plan =
      probe_plan(machine.platform(), machine.transports(), ranks, ProbeDepth::quick, elements);
  value_or_throw(machine.prepare(kernels_of(plan)));
  std::vector<Measurement> list;
  ProgressBar bar;
  const auto progress = bar.callback();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!progress(i, plan.size(), to_string(plan[i]))) throw Ended{kSignalBase + interrupted()};
    auto measurement = machine.measure(plan[i]);
    if (measurement) {
      list.push_back(*measurement);
    } else if (measurement.error().kind != ErrorKind::bad_input) {
      throw Failure(measurement.error());
    }
  }
  return list;
}

}  // namespace

void add_measured_flags(CLI::App& command, MeasuredFlags& flags) {
  // --machine goes before the variable with the default of --db.
  auto* database = add_database_flag(command, flags.database)->required(false)->envname("");
  auto* platform = add_platform_flag(command, flags.platform);
  auto* machine = add_text(command, "--machine NAME", flags.machine.name,
                           "Machine to probe quickly now, instead of a database")
                      ->excludes(database)
                      ->excludes(platform);
  add_profile_flag(command, flags.machine);
  command.get_option("--profile")->needs(machine);
}

MeasuredFlags with_default(MeasuredFlags flags) {
  if (flags.database.empty() && flags.machine.name.empty()) {
    flags.database = environment().database.value_or("");
  }
  return flags;
}

MeasuredPlatform measured_platform(const MeasuredFlags& flags, const CommonFlags& common,
                                   const ModelConfig& config,
                                   const std::function<std::vector<int>(int gpus)>& ranks) {
  if (!flags.database.empty()) return MeasuredPlatform::of_database(flags.database, flags.platform);
  const auto machine = open(flags.machine, common);
  const Platform platform = machine->platform();
  catch_interrupts();
  warn_if_simulated(flags.machine, *machine);
  return MeasuredPlatform::of_measurements(
      platform, quick_measurements(*machine, ranks(platform.gpu_count), config));
}

}  // namespace overlaptune::cli
