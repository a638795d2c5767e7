#include "cli/evaluate_held_out.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/interrupt.hpp"
#include "cli/output/origin.hpp"
#include "cli/output/progress.hpp"
#include "model/model.hpp"
#include "probes/held_out.hpp"
#include "probes/probes.hpp"
#include "reports/table/table.hpp"
#include "tuner/held_out_errors.hpp"
#include "tuner/layer_probes.hpp"

namespace overlaptune::cli {
namespace {

Table summary(const std::vector<HeldOutPoint>& points) {
  Table table{
      .name = "held_out",
      .columns = columns_of("of, count, median_percent, p90_percent, max_percent, mean_percent")};
  for (const ErrorsOfKind& errors : errors_by_kind(points)) {
    table.rows.push_back({errors.kind, static_cast<std::int64_t>(errors.count), 100 * errors.median,
                          100 * errors.p90, 100 * errors.most, 100 * errors.mean});
  }
  return table;
}

/// The points that are measured: collectives at random, and the GEMMs of the problems.
std::vector<Probe> probes_of(const HeldOutFlags& flags, const Model& model,
                             const StoredPlatform& platform,
                             const std::vector<Measurement>& measurements, std::uint64_t seed) {
  std::vector<Problem> problems;
  const WorkloadFlags& workload = flags.workload;
  if (!workload.model.empty() || !workload.problems.empty() || !workload.file.empty()) {
    problems = read_workload(workload).problems;
  }
  const int wanted = flags.collectives.value_or(0);
  auto probes = held_out_collectives(measurements, wanted, seed);
  if (std::ssize(probes) < wanted) {
    spdlog::warn("{} collectives instead of {}: what was probed has not many more points",
                 probes.size(), wanted);
  }
  for (const Probe& probe : gemms_of(problems)) probes.push_back(probe);
  if (flags.tiles > 0) {
    for (const Probe& probe : best_gemms(model, platform.platform, problems, flags.tiles)) {
      probes.push_back(probe);
    }
  }
  return probes;
}

OrderedJson document(const HeldOut& measured, const Platform& platform, std::uint64_t seed) {
  OrderedJson list = OrderedJson::array();
  for (const HeldOutPoint& point : measured.points) {
    list.push_back({{"probe", to_string(point.probe)},
                    {"measured_us", point.measured.count()},
                    {"predicted_us", point.predicted.count()}});
  }
  OrderedJson document{{"platform", platform.name},
                       {"fingerprint", fingerprint(platform)},
                       {"seed", seed},
                       {"left_out", measured.left_out},
                       {"summary", to_json_rows(summary(measured.points))},
                       {"points", std::move(list)}};
  add_origin(document, platform);
  return document;
}

}  // namespace

int evaluate_held_out(const HeldOutFlags& flags, const MachineFlags& machine_flags,
                      const std::string& database, const CommonFlags& common) {
  const auto machine = open(machine_flags, common);  // only its rank 0 reads the database
  const Store store(database, Access::read);
  const StoredPlatform platform = value_or_throw(store.platform(machine->platform()));
  const auto measurements = store.measurements(platform.id);
  const Model model = value_or_throw(Model::fit(platform.platform, measurements));
  catch_interrupts();
  const auto probes = probes_of(flags, model, platform, measurements, common.seed);
  value_or_throw(machine->prepare(kernels_of(probes)));
  HeldOut measured;
  {
    ProgressBar bar;
    measured = value_or_throw(measure_held_out(*machine, model, probes, bar.callback()));
  }
  if (interrupted() != 0) return kSignalBase + interrupted();
  return print_either(
      common, document(measured, platform.platform, common.seed),
      to_markdown(with_machine(summary(measured.points), platform.platform)) +
          fmt::format("{} points, {} left out\n", measured.points.size(), measured.left_out));
}

void add_held_out_flags(CLI::App& command, HeldOutFlags& flags) {
  auto* held_out = add_parsed(command, "--held-out N", flags.collectives, whole_number(0, 100'000),
                              "Measure N collectives that were not probed, and the GEMMs of the "
                              "problems given, and compare the model with them; nothing is stored");
  auto* tiles = add_parsed(command, "--tiles N", flags.tiles, whole_number(0, 1000),
                           "Beside --held-out: generated GEMMs of the problems too, on all SMs, "
                           "with the N tiles that the model thinks best (0)");
  tiles->needs(held_out);
  add_workload_flags(command, flags.workload);
  for (const char* name : {"--model", "--problem", "--problems"}) {
    command.get_option(name)->needs(held_out);
  }
}

}  // namespace overlaptune::cli
