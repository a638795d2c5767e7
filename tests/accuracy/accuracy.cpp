// Measures how well the model predicts, and how well it chooses, on simulated machines and problems
// of random sizes. It judges the model twice: as `tune` uses it, which first probes a few generated
// GEMMs at the size of each problem (layer probes); and without layer probes, when no probe has the
// size of a problem. Prints one table for each, with a row for each profile; exits with 1 if the
// first exceeds a bound.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "held_out.hpp"
#include "machine/catalogue.hpp"
#include "reports/quality/evaluation.hpp"
#include "reports/snapshot.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {
namespace {

constexpr double kMeanError = 0.03;
constexpr double kTop1Regret = 0.01;
constexpr double kShortlistRegret = 0.003;
constexpr int kShortlist = 5;
const std::string kWith = "with";
const std::string kWithout = "without";

struct Arguments {
  std::vector<std::string> profiles{"h200-nvlink-x8", "h200-rings-x8", "h200-hostmem-x4",
                                    "a100-nvlink-x8", "rtx4090-pcie-x4"};
  int problems = 100;
  int top_k = 150;
  int explore = 150;
  std::uint64_t seed = 1;
  double tolerance = 1;
  std::vector<std::string> layer_probes{kWith, kWithout};
  std::string keep{};
  bool by_op = false;
};

/// A database in a place of its own, removed with this object unless it is kept.
class ScratchDatabase {
 public:
  ScratchDatabase(const std::string& name, const std::string& keep)
      : kept_(!keep.empty()),
        file_(kept_ ? std::filesystem::path(keep) / (name + ".db")
                    : std::filesystem::temp_directory_path() /
                          fmt::format("overlaptune-accuracy-{}-{}.db", name, ::getpid())) {
    remove();
  }
  ~ScratchDatabase() {
    if (!kept_) remove();
  }
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  void remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(file_.string() + suffix, ignored);
    }
  }
  bool kept_;
  std::filesystem::path file_;
};

/// The number of probes that have a GEMM of the size of one of the problems.
std::ptrdiff_t probes_of_own_size(const Store& store, const std::vector<Problem>& problems) {
  const auto measurements = store.measurements(store.platforms().front().id);
  return std::count_if(measurements.begin(), measurements.end(), [&](const Measurement& each) {
    const GemmProbe* gemm = gemm_of(each.probe);
    return gemm != nullptr &&
           std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
             return gemm->m == problem.m && gemm->n == problem.n && gemm->k == problem.k;
           });
  });
}

/// False if a bound is exceeded.
bool judge(const std::string& profile, bool layer_probes, const Arguments& arguments) {
  const auto started = std::chrono::steady_clock::now();
  const auto machine = value_or_throw(open_machine("sim:" + profile, {.seed = arguments.seed}));
  const ScratchDatabase scratch(profile + (layer_probes ? "" : "-without-layer-probes"),
                                arguments.keep);
  Store store(scratch.file(), Access::create);
  const auto problems =
      held_out_problems(arguments.problems, machine->platform().gpu_count, arguments.seed + 1000);
  TuneOptions options{.top_k = arguments.top_k, .explore = arguments.explore};
  if (!layer_probes) options.layer_rounds = 0;
  options.provenance.seed = arguments.seed;
  value_or_throw(tune(*machine, store, problems, options,
                      [](std::size_t, std::size_t, std::string_view) { return true; }));
  const Evaluation result = evaluate(take_snapshot(store), kShortlist).front();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fmt::print(
      "{:<18} {:>8} {:>10} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} "
      "{:>7.0f}\n",
      profile, probes_of_own_size(store, problems), result.error.count, 100 * result.error.mean,
      100 * result.error.median, 100 * result.error.p90, 100 * result.error.max,
      100 * result.regret.top1_mean, 100 * result.regret.top1_max,
      100 * result.regret.shortlist_mean, 100 * result.regret.shortlist_max, seconds);
  if (arguments.by_op) {
    for (const auto& breakdown : {result.strategies, result.ops, result.origins}) {
      for (const ErrorSummary& error : breakdown) {
        fmt::print("  {:<16} {:>8} {:>10} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f}\n", error.name, "",
                   error.count, 100 * error.mean, 100 * error.median, 100 * error.p90,
                   100 * error.max);
      }
    }
    fmt::print("  {:<16} {:>8} {:>10} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f}\n", "sequential", "",
               result.sequential.count, 100 * result.sequential.mean,
               100 * result.sequential.median, 100 * result.sequential.p90,
               100 * result.sequential.max);
  }
  std::fflush(stdout);
  return result.error.mean <= arguments.tolerance * kMeanError &&
         result.regret.top1_mean <= arguments.tolerance * kTop1Regret &&
         result.regret.shortlist_mean <= arguments.tolerance * kShortlistRegret;
}

/// A row for each profile. False if one exceeds a bound.
bool print_table(bool layer_probes, const Arguments& arguments) {
  const char* const title =
      layer_probes
          ? "with layer probes: `tune` first measured generated GEMMs at the problems' own sizes"
          : "without layer probes: no GEMM was measured at the size of a problem";
  fmt::print("\n{}\n", title);
  fmt::print("{:<18} {:>8} {:>10} {:>7} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>7}\n",
             "profile", "own size", "candidates", "mean", "median", "p90", "max", "top1",
             "top1 max", "top5", "top5 max", "s");
  bool good = true;
  for (const std::string& profile : arguments.profiles) {
    good &= judge(profile, layer_probes, arguments);
  }
  return good;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Accuracy of the model on simulated machines, on problems of random sizes."};
  app.add_option("--profiles", arguments.profiles)->delimiter(',');
  app.add_option("--problems", arguments.problems, "problems a profile");
  app.add_option("--top-k", arguments.top_k, "candidates a problem that the model proposes");
  app.add_option("--explore", arguments.explore, "candidates a problem drawn at random");
  app.add_option("--seed", arguments.seed);
  app.add_option("--tolerance", arguments.tolerance, "factor on the bounds of the exit status");
  app.add_option("--layer-probes", arguments.layer_probes,
                 "which tables: with the probes that `tune` makes at the problems' own sizes (the "
                 "bounds are for this one), without them, or both")
      ->delimiter(',')
      ->check(CLI::IsMember({kWith, kWithout}));
  app.add_option("--keep", arguments.keep, "directory to keep the databases in");
  app.add_flag("--by", arguments.by_op, "also by strategy, op and origin");
  CLI11_PARSE(app, argc, argv);
  fmt::print(
      "simulated; errors and regrets in percent; {} problems a profile, {} + {} candidates "
      "a problem, seed {}\n"
      "own size: probes with a GEMM of the size of a problem; top1, top5: regret of the first "
      "choice and of a shortlist of {}\n",
      arguments.problems, arguments.top_k, arguments.explore, arguments.seed, kShortlist);
  const auto wanted = [&](const std::string& which) {
    const auto& all = arguments.layer_probes;
    return std::find(all.begin(), all.end(), which) != all.end();
  };
  bool good = true;
  if (wanted(kWith)) {
    good = print_table(true, arguments);
    fmt::print(
        "bounds: mean error {:.2f}, regret of the first choice {:.2f}, of a shortlist of {} "
        "{:.2f}: {}\n",
        100 * arguments.tolerance * kMeanError, 100 * arguments.tolerance * kTop1Regret, kShortlist,
        100 * arguments.tolerance * kShortlistRegret, good ? "held" : "EXCEEDED");
  }
  if (wanted(kWithout)) print_table(false, arguments);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace overlaptune

int main(int argc, char** argv) {
  try {
    return overlaptune::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "accuracy: {}\n", error.what());
    return 2;
  }
}
