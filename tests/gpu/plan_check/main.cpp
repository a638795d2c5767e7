// plan_check: liboverlaptune-run on the GPUs of this host, as another program uses it.

#include <cstdlib>
#include <optional>

#include <CLI/CLI.hpp>

#include "core/error.hpp"
#include "tests/gpu/plan_check/cases.hpp"
#include "tests/gpu/plan_check/winners.hpp"

namespace {

using namespace overlaptune;
using namespace overlaptune::plan_check;

constexpr int kSkipped = 77;

struct Options {
  std::string database{};
  std::vector<Problem> problems{};
  std::optional<Op> op{};
};

void print_platform(Bench& bench, Results& results) {
  ovt_platform platform{};
  platform.size = sizeof platform;
  check(ovt_platform_detect(bench.world(), &platform));
  results.print(fmt::format("{}: {} x {}, driver {}, CUDA {}, NCCL {}, {} ({}), multicast {}, {}",
                            platform.name, platform.gpu_count, platform.gpu_model,
                            platform.driver_version, platform.cuda_version, platform.nccl_version,
                            platform.topology, platform.transport,
                            platform.multicast_allowed == 1 ? "allowed" : "off", platform.details));
}

/// The work of one process. Returns its exit code.
int check_on(const RankProcess& process, const Options& options) {
  Bench bench(process);
  Results results{.printed = process.rank() == 0};
  print_platform(bench, results);
  if (options.database.empty()) {
    check_growth(bench, options.op, results);
    check_all_cases(bench, options.op, results);
    check_odd_shapes(bench, options.op, results);
    check_refusals(bench, results);
  } else {
    time_winners(bench, options.database, options.problems, results);
  }
  results.print(fmt::format("{} passed, {} failed", results.passed, results.failed));
  return results.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Plans of liboverlaptune-run, one process a GPU: results of every strategy, or, with "
      "--db, times beside those that are stored."};
  Options options;
  std::vector<std::string> problems;
  app.add_option("--db", options.database, "time the winners stored for this platform");
  app.add_option("--problem", problems, "of these only: OP:M,N,K:dtype:ranks");
  std::string op;
  app.add_option("--op", op, "without --db: results of this op only");
  CLI11_PARSE(app, argc, argv);
  if (!op.empty()) {
    const auto known = parse_name<Op>(op);
    if (!known) {
      std::fprintf(stderr, "plan_check: --op: %s\n", known.error().message.c_str());
      return 2;
    }
    options.op = *known;
  }
  for (const std::string& text : problems) {
    const auto problem = parse_problem(text);
    if (!problem) {
      std::fprintf(stderr, "plan_check: %s\n", problem.error().message.c_str());
      return 2;
    }
    options.problems.push_back(*problem);
  }
  const int ranks = gpu_count();
  if (ranks < 2) {
    std::printf("skipped: %d GPUs, at least 2 are needed\n", ranks);
    return kSkipped;
  }
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // as tuning does
  return run_ranks(ranks, [&](const RankProcess& process) { return check_on(process, options); });
}
