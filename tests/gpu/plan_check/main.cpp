// plan_check: liboverlaptune-run on the GPUs of this host, as another program uses it.

#include <cstdlib>

#include "core/base/error.hpp"
#include "tests/gpu/plan_check/cases.hpp"
#include "tests/gpu/plan_check/ends.hpp"
#include "tests/gpu/plan_check/families.hpp"
#include "tests/gpu/plan_check/in_turn.hpp"
#include "tests/gpu/plan_check/nodes.hpp"
#include "tests/gpu/plan_check/options.hpp"
#include "tests/gpu/plan_check/shared_gpus.hpp"
#include "tests/gpu/plan_check/winners.hpp"

namespace {

using namespace overlaptune;
using namespace overlaptune::plan_check;

constexpr int kSkipped = 77;

void print_platform(Bench& bench, const Results& results) {
  ovt_platform platform{};
  platform.size = sizeof platform;
  check(ovt_platform_detect(bench.world(), &platform));
  results.print(fmt::format("{}: {} x {}, driver {}, CUDA {}, NCCL {}, {} ({}), multicast {}, {}",
                            platform.name, platform.gpu_count, platform.gpu_model,
                            platform.driver_version, platform.cuda_version, platform.nccl_version,
                            platform.topology, platform.transport,
                            platform.multicast_allowed == 1 ? "allowed" : "off", platform.details));
}

void print_placement(const Placement& placement, const Results& results) {
  results.print(fmt::format("{} ranks on {} {}, {} on each: results are proved, times mean nothing",
                            placement.ranks(), placement.gpus, placement.gpus == 1 ? "GPU" : "GPUs",
                            placement.ranks_per_gpu));
}

void check_results(Bench& bench, const Selection& selection, Results& results) {
  if (bench.process().placement().nodes > 1) {
    check_all_cases(bench, selection, results);
    return check_nodes(bench, results);
  }
  check_growth(bench, selection, results);
  check_all_cases(bench, selection, results);
  check_odd_shapes(bench, selection, results);
  check_in_turn(bench, selection, results);
  check_families(bench, selection, results);
  if (results.passed + results.failed + results.skipped == 0) {
    results.row("cases", false, "no case has this op and this strategy");
  }
  check_refusals(bench, results);
  check_ends(bench, results);
  const Placement& placement = bench.process().placement();
  if (placement.shares_gpus() && !placement.gives_memory) check_shared_refusals(bench, results);
}

/// The work of one process. Returns its exit code.
int check_on(const RankProcess& process, const Options& options) {
  Results results{.printed = process.rank() == 0};
  if (process.placement().shares_gpus()) print_placement(process.placement(), results);
  Bench bench(process);
  if (!process.placement().shares_gpus()) print_platform(bench, results);
  if (options.database.empty()) {
    check_results(bench, options.selection, results);
  } else {
    time_winners(bench, options.database, options.problems, results);
  }
  const std::string skipped =
      results.skipped == 0 ? "" : fmt::format(", {} skipped", results.skipped);
  results.print(fmt::format("{} passed, {} failed{}", results.passed, results.failed, skipped));
  return results.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "plan_check: %s\n", options.error().message.c_str());
    return 2;
  }
  const Placement placement{.gpus = gpu_count(),
                            .ranks_per_gpu = options->ranks_per_gpu,
                            .gives_memory = options->gives_memory,
                            .nodes = options->nodes};
  if (placement.ranks() < 2) {
    std::printf("skipped: %d %s, at least 2 are needed; on one, --ranks-per-gpu 2 proves results\n",
                placement.gpus, placement.gpus == 1 ? "GPU" : "GPUs");
    return kSkipped;
  }
  if (placement.ranks() % placement.nodes != 0 || placement.ranks_per_node() < 2) {
    std::printf("skipped: %d GPUs, which are not %d nodes of 2 or more\n", placement.gpus,
                placement.nodes);
    return kSkipped;
  }
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // as tuning does
  return run_ranks(placement,
                   [&](const RankProcess& process) { return check_on(process, *options); });
}
