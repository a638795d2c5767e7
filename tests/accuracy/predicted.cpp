// Measures the regret of the library's predictions for problems that nobody tuned: the answers of
// the C interface are compared with the shortlist of the full search, all measured on the simulated
// machine. Prints a row for each profile and one for all; exits with 1 if the bound is exceeded.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <overlaptune/overlaptune.hpp>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/abi/values.hpp"
#include "core/config/check.hpp"
#include "core/config/untuned.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "fitted.hpp"
#include "held_out.hpp"
#include "machine/catalogue.hpp"
#include "model/search.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

constexpr double kMeanRegret = 0.01;

struct Arguments {
  std::vector<std::string> profiles{"h200-nvlink-x8", "h200-rings-x8", "h200-hostmem-x4",
                                    "a100-nvlink-x8", "rtx4090-pcie-x4"};
  int problems = 1000;
  int shortlist = 8;
  int repetitions = 9;
  std::uint64_t seed = 1;
  double tolerance = 1;
};

/// The results for some problems: the regret of each answer, and the number of answers that were
/// the fastest config measured.
struct Result {
  std::vector<double> regrets{};
  std::vector<double> of_full_search{};  ///< regrets of the full search's first choice
  /// Regrets of the configs that nobody tuned (core/config/untuned.hpp), by op and way; infinite
  /// where one cannot run.
  std::map<Op, std::map<std::string, std::vector<double>>> of_ways{};
  int best = 0;
  int not_valid = 0;  ///< answers that the machine refused
};

ovt_problem asked(const Problem& problem) {
  return ovt::problem(static_cast<ovt_op>(problem.op), problem.m, problem.n, problem.k,
                      static_cast<ovt_dtype>(problem.elements), problem.ranks);
}

/// The first `count` problems that the machine has the memory for.
std::vector<Problem> problems_for(const Platform& platform, int count, std::uint64_t seed) {
  std::vector<Problem> fitting;
  for (const Problem& problem : held_out_problems(2 * count, platform.gpu_count, seed)) {
    if (fits(problem, platform) && fitting.size() < static_cast<std::size_t>(count)) {
      fitting.push_back(problem);
    }
  }
  return fitting;
}

/// Median time of each config, all of them interleaved; infinite where a config is not valid.
std::vector<double> times(Machine& machine, const Problem& problem,
                          const std::vector<Config>& configs, int repetitions) {
  std::vector<double> medians;
  medians.reserve(configs.size());
  for (const RunResult& result :
       value_or_throw(machine.run(problem, configs, {.repetitions = repetitions}))) {
    const bool valid = result.verdict == Verdict::valid;
    medians.push_back(valid ? summarize(slowest_rank(result)).median.count()
                            : std::numeric_limits<double>::infinity());
  }
  return medians;
}

/// The configs that nobody tuned, by their ways; none of a way that cannot run the problem.
std::map<std::string, std::optional<Config>> untuned_ways(const Problem& problem) {
  std::map<std::string, std::optional<Config>> ways;
  for (const std::string& way : CLI::detail::split(all_ways(), ',')) {
    auto config = untuned_config(problem, way);
    ways[way] = config ? std::optional(std::move(*config)) : std::nullopt;
  }
  return ways;
}

/// The choice without a model: for each op always the way that is best for it in the mean, which
/// one has to know. Returns the regrets.
std::vector<double> regrets_of_best_ways(const Result& result) {
  std::vector<double> regrets;
  for (const auto& [op, ways] : result.of_ways) {
    const auto best = std::min_element(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
      return mean(a.second) < mean(b.second);
    });
    regrets.insert(regrets.end(), best->second.begin(), best->second.end());
  }
  return regrets;
}

void judge(FittedMachine& fitted, const ovt::Database& database, const Problem& problem,
           const Arguments& arguments, Result& result) {
  const ovt_answer answer = database.query(asked(problem));
  if (answer.source != OVT_PREDICTED) {
    throw Failure(ErrorKind::bad_input, to_string(problem) + ": " + answer.reason);
  }
  // The answer first, then `sequential` and the shortlist; a config that is in several places is
  // taken once.
  std::vector<Config> configs{c::config_of(answer.config)};
  const auto add = [&](const Config& config) {
    if (std::find(configs.begin(), configs.end(), config) == configs.end()) {
      configs.push_back(config);
    }
  };
  add(Config{});
  constexpr int kSpare = 8;  // as `tune` does
  const auto scored = value_or_throw(
      search(fitted.model, problem, Launch::graph, {.best = kSpare * arguments.shortlist}));
  for (const Scored& candidate : shortlist(scored, arguments.shortlist)) add(candidate.config);

  const std::size_t judged = configs.size();
  const auto ways = untuned_ways(problem);
  for (const auto& [way, config] : ways) {
    if (config && check(problem, *config, fitted.machine->capabilities())) add(*config);
  }
  const auto measured = times(*fitted.machine, problem, configs, arguments.repetitions);
  if (std::isinf(measured.front())) {
    ++result.not_valid;
    return;
  }
  const double best =
      *std::min_element(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(judged));
  const auto regret_of = [&](const Config& config) {
    const auto found = std::find(configs.begin(), configs.end(), config);
    return found == configs.end()
               ? std::numeric_limits<double>::infinity()
               : measured[static_cast<std::size_t>(found - configs.begin())] / best - 1;
  };
  result.regrets.push_back(measured.front() / best - 1);
  result.of_full_search.push_back(regret_of(scored.front().config));
  for (const auto& [way, config] : ways) {
    result.of_ways[problem.op][way].push_back(config ? regret_of(*config)
                                                     : std::numeric_limits<double>::infinity());
  }
  result.best += measured.front() == best ? 1 : 0;
}

/// Makes a database of all that was probed, without a winner.
void store_probes(const std::filesystem::path& file, const FittedMachine& fitted) {
  Store store(file, Access::create);
  const auto run = store.begin_probe_run(store.add_platform(fitted.machine->platform()), {});
  for (const Measurement& measurement : fitted.measurements) {
    store.add_measurement(run, measurement);
  }
  store.finish_probe_run(run);
}

Result judge(const std::string& profile, int count, const Arguments& arguments) {
  const int ranks = value_or_throw(open_machine("sim:" + profile, {.seed = arguments.seed}))
                        ->platform()
                        .gpu_count;
  FittedMachine fitted = fit_simulated(profile, ranks, arguments.seed);
  const TemporaryFolder folder;
  store_probes(folder / "probed.db", fitted);
  const ovt_platform platform = ovt::stored_platform(fitted.machine->platform().name);
  const ovt::Database database({folder / "probed.db"}, &platform);
  Result result;
  for (const Problem& problem :
       problems_for(fitted.machine->platform(), count, arguments.seed + 2000)) {
    judge(fitted, database, problem, arguments, result);
  }
  return result;
}

void print(const std::string& name, const Result& result) {
  const auto& regrets = result.regrets;
  fmt::print("{:<18} {:>8} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>8.0f} {:>9} {:>11.2f} {:>8.2f}\n",
             name, regrets.size(), 100 * mean(regrets), 100 * quantile(regrets, 0.5),
             100 * quantile(regrets, 0.9), 100 * quantile(regrets, 1),
             100.0 * result.best / static_cast<double>(regrets.size()), result.not_valid,
             100 * mean(result.of_full_search), 100 * mean(regrets_of_best_ways(result)));
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Regret of predicted answers on simulated machines."};
  app.add_option("--profiles", arguments.profiles)->delimiter(',');
  app.add_option("--problems", arguments.problems, "problems of all profiles together")
      ->check(CLI::PositiveNumber);
  app.add_option("--shortlist", arguments.shortlist, "candidates of the full search a problem");
  app.add_option("--repetitions", arguments.repetitions);
  app.add_option("--seed", arguments.seed);
  app.add_option("--tolerance", arguments.tolerance, "factor on the bound of the exit status");
  CLI11_PARSE(app, argc, argv);
  const int profiles = static_cast<int>(arguments.profiles.size());
  fmt::print(
      "simulated; regret in percent against the best of the answer, `sequential` and a "
      "shortlist of {} of the full search; `no model`: for each op the untuned config of the way "
      "that is best in the mean; seed {}\n",
      arguments.shortlist, arguments.seed);
  fmt::print("{:<18} {:>8} {:>7} {:>7} {:>7} {:>7} {:>8} {:>9} {:>11} {:>8}\n", "profile",
             "problems", "mean", "median", "p90", "max", "best, %", "not valid", "full search",
             "no model");
  Result all;
  for (int i = 0; i < profiles; ++i) {
    const int count = arguments.problems * (i + 1) / profiles - arguments.problems * i / profiles;
    const std::string& profile = arguments.profiles[static_cast<std::size_t>(i)];
    const Result result = judge(profile, count, arguments);
    print(profile, result);
    all.regrets.insert(all.regrets.end(), result.regrets.begin(), result.regrets.end());
    all.of_full_search.insert(all.of_full_search.end(), result.of_full_search.begin(),
                              result.of_full_search.end());
    for (const auto& [op, ways] : result.of_ways) {
      for (const auto& [way, regrets] : ways) {
        auto& list = all.of_ways[op][way];
        list.insert(list.end(), regrets.begin(), regrets.end());
      }
    }
    all.best += result.best;
    all.not_valid += result.not_valid;
  }
  print("all", all);
  const double bound = arguments.tolerance * kMeanRegret;
  const bool good = mean(all.regrets) <= bound && all.not_valid == 0;
  fmt::print("bounds: mean regret {:.2f}, every answer valid: {}\n", 100 * bound,
             good ? "held" : "EXCEEDED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace overlaptune

int main(int argc, char** argv) {
  try {
    return overlaptune::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "predicted_regret: {}\n", error.what());
    return 2;
  }
}
