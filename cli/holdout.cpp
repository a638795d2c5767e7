// overlaptune holdout: compares the model with points that were not probed.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/machine_flags.hpp"
#include "cli/origin.hpp"
#include "cli/problem_flags.hpp"
#include "cli/progress.hpp"
#include "model/model.hpp"
#include "probes/held_out.hpp"
#include "probes/probes.hpp"
#include "reports/table.hpp"
#include "tuner/layer_probes.hpp"

namespace overlaptune::cli {
namespace {

struct HoldoutFlags {
  CommonFlags common{};
  MachineFlags machine{};
  WorkloadFlags workload{};
  std::string database{};
  int points = 100;
  int tiles = 0;
};

struct Point {
  std::string kind;
  std::string probe;
  double measured_us = 0;
  double predicted_us = 0;
  [[nodiscard]] double error() const { return std::abs(predicted_us / measured_us - 1); }
};

std::string kind_of(const Probe& probe) {
  if (const auto* collective = std::get_if<CollectiveProbe>(&probe)) {
    return std::string(to_string(collective->collective));
  }
  const auto* gemm = std::get_if<GemmProbe>(&probe);
  return gemm == nullptr || gemm->tile.is_library() ? "gemm" : "generated gemm";
}

bool is_gemm(const std::string& kind) {
  return kind == "gemm" || kind == "generated gemm";
}

/// The errors over all points, over all collectives, and for each kind.
Table summary(const std::vector<Point>& points) {
  Table table{.name = "holdout",
              .columns = {{"of"},
                          {"count"},
                          {"median percent"},
                          {"p90 percent"},
                          {"max percent"},
                          {"mean percent"}}};
  std::vector<std::string> kinds{"collectives"};
  for (const Point& point : points) {
    if (std::find(kinds.begin(), kinds.end(), point.kind) == kinds.end()) {
      kinds.push_back(point.kind);
    }
  }
  for (const std::string& kind : kinds) {
    std::vector<double> errors;
    for (const Point& point : points) {
      if (point.kind == kind || (kind == "collectives" && !is_gemm(point.kind))) {
        errors.push_back(100 * point.error());
      }
    }
    if (errors.empty()) continue;
    table.rows.push_back({kind, static_cast<std::int64_t>(errors.size()), quantile(errors, 0.5),
                          quantile(errors, 0.9), quantile(errors, 1), mean(errors)});
  }
  return table;
}

int holdout(const HoldoutFlags& flags, const Session& /*session*/) {
  std::vector<Problem> problems;
  const WorkloadFlags& workload = flags.workload;
  if (!workload.model.empty() || !workload.problems.empty() || !workload.file.empty()) {
    problems = read_workload(workload).problems;
  }
  const auto machine = open(flags.machine, flags.common);  // only its rank 0 reads the database
  const Store store(flags.database, Access::read);
  const StoredPlatform platform = value_or_throw(store.platform(machine->platform()));
  const auto measurements = store.measurements(platform.id);
  const Model model = value_or_throw(Model::fit(platform.platform, measurements));
  catch_interrupts();

  auto probes = held_out_collectives(measurements, flags.points, flags.common.seed);
  if (std::ssize(probes) < flags.points) {
    spdlog::warn("{} collectives instead of {}: what was probed has not many more points",
                 probes.size(), flags.points);
  }
  for (const Probe& probe : gemms_of(problems)) probes.push_back(probe);
  if (flags.tiles > 0) {
    for (const Probe& probe : best_gemms(model, platform.platform, problems, flags.tiles)) {
      probes.push_back(probe);
    }
  }
  if (const auto ready = machine->prepare(kernels_of(probes)); !ready) {
    throw Failure(ready.error());
  }
  std::vector<Point> points;
  int left_out = 0;
  {
    ProgressBar bar;
    const Progress progress = bar.callback();
    for (std::size_t i = 0; i < probes.size(); ++i) {
      if (!progress(i, probes.size(), to_string(probes[i]))) return kSignalBase + interrupted();
      const auto predicted = model.predict(probes[i]);
      const auto measured = machine->measure(probes[i]);
      if (!measured && measured.error().kind != ErrorKind::bad_input) {
        throw Failure(measured.error());
      }
      if (!measured || !predicted) {
        spdlog::warn("{}: left out: {}", to_string(probes[i]),
                     (measured ? predicted.error() : measured.error()).message);
        ++left_out;
        continue;
      }
      points.push_back({kind_of(probes[i]), to_string(probes[i]), measured->time.median.count(),
                        predicted->count()});
    }
  }
  const Table table = summary(points);
  if (!flags.common.json) {
    print(to_markdown(with_machine(table, platform.platform)) +
          fmt::format("{} points, {} left out\n", points.size(), left_out));
    return kDone;
  }
  OrderedJson list = OrderedJson::array();
  for (const Point& point : points) {
    list.push_back({{"probe", point.probe},
                    {"measured_us", point.measured_us},
                    {"predicted_us", point.predicted_us}});
  }
  OrderedJson document{
      {"platform", platform.platform.name}, {"fingerprint", fingerprint(platform.platform)},
      {"seed", flags.common.seed},          {"left_out", left_out},
      {"summary", to_json_rows(table)},     {"points", std::move(list)}};
  add_origin(document, platform.platform);
  print_json(document);
  return kDone;
}

}  // namespace

void add_holdout(CLI::App& root, Session& session) {
  auto flags = std::make_shared<HoldoutFlags>();
  CLI::App* command = add_command(
      root, "holdout", "Measure points that were not probed and compare the model with them",
      "overlaptune holdout --machine sim:h200-nvlink-x8 --db f.db --points 100 \\\n"
      "    --model examples/models/llama-3-8b.json --tp 8 --tokens 1k,4k",
      flags->common);
  add_machine_flags(*command, flags->machine);
  add_database_flag(*command, flags->database);
  add_workload_flags(*command, flags->workload);
  add_parsed(*command, "--points", flags->points, whole_number(0, 100'000),
             "Collectives to draw (100); GEMMs are those of the problems given")
      ->type_name("N");
  add_parsed(*command, "--tiles", flags->tiles, whole_number(0, 1000),
             "Generated GEMMs of the problems too, on all SMs, with the N tiles that the model "
             "thinks best (0)")
      ->type_name("N");
  on_parsed(*command, session, flags, holdout);
}

}  // namespace overlaptune::cli
