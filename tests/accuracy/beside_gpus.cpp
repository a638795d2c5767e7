// Holds simulated machines beside the GPUs that their profiles were made from. Each simulated
// machine tunes the problems that were tuned on the GPUs. Prints, as Markdown, the winners and
// speedups of both, the errors and regrets of one model, which is fitted to the probes of each, and
// how far simulated times of the configs are from those of the GPUs.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/statistics.hpp"
#include "db/store.hpp"
#include "machine/catalogue.hpp"
#include "model/model.hpp"
#include "reports/winners.hpp"
#include "same_configs.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kShortlist = 5;

/// The results of tuning on one platform.
struct Tuned {
  Platform platform{};
  std::vector<Measurement> measurements{};
  std::vector<Winner> winners{};
  std::vector<Candidate> candidates{};
};

/// The platform of this name that lies in the database; it must be there.
Tuned tuned_of(const Store& store, const std::string& name) {
  for (const StoredPlatform& stored : store.platforms()) {
    if (stored.platform.name != name) continue;
    Tuned tuned{.platform = stored.platform, .measurements = store.measurements(stored.id)};
    for (const StoredWinner& each : store.winners()) {
      if (each.platform == stored.id) tuned.winners.push_back(each.winner);
    }
    for (const StoredCandidate& each : store.all_candidates()) {
      if (each.platform == stored.id) tuned.candidates.push_back(each.candidate);
    }
    return tuned;
  }
  throw Failure(ErrorKind::bad_input, name + ": the database has no platform of this name");
}

Tuned on_gpus(const std::filesystem::path& exported, const std::string& name) {
  std::ifstream file(exported);
  if (!file) throw Failure(ErrorKind::bad_input, exported.string() + ": cannot be read");
  const TemporaryFolder folder;
  Store store(folder / "gpus.db", Access::create);
  if (const auto read = import_json(store, file); !read) throw Failure(read.error());
  return tuned_of(store, name);
}

Tuned simulated(Machine& machine, const std::vector<Problem>& problems, std::uint64_t seed) {
  const TemporaryFolder folder;
  Store store(folder / "simulated.db", Access::create);
  TuneOptions options{.top_k = 8, .explore = 5};  // as on the GPUs
  options.provenance.seed = seed;
  value_or_throw(tune(machine, store, problems, options,
                      [](std::size_t, std::size_t, std::string_view) { return true; }));
  return tuned_of(store, machine.platform().name);
}

/// Errors and regrets, as fractions.
struct Quality {
  std::vector<double> all{};       ///< errors of every candidate but `sequential`
  std::vector<double> proposed{};  ///< errors of `signaled` candidates that the model had proposed
  std::vector<double> waiting{};
  std::vector<double> peer_store{};
  std::vector<double> sequential{};
  std::vector<double> first{};  ///< regrets of the best by prediction among what was measured
  std::vector<double> five{};   ///< regrets of the best of five by prediction
};

/// Judges today's model, not the predictions that were stored when the candidates were measured.
Quality judged(const Tuned& tuned) {
  const Model model = value_or_throw(Model::fit(tuned.platform, tuned.measurements));
  struct Seen {
    double predicted = 0;
    double measured = 0;
  };
  std::map<std::string, std::vector<Seen>> problems;
  Quality quality;
  for (const Candidate& each : tuned.candidates) {
    if (each.verdict != Verdict::valid || !each.measured) continue;
    const auto prediction = model.predict(each.problem, each.config, each.launch);
    if (!prediction) continue;
    const Seen seen{prediction->time.count(), each.measured->median.count()};
    const double error = std::abs(seen.predicted / seen.measured - 1);
    problems[to_string(each.problem)].push_back(seen);
    if (strategy_of(each.config) == strategy_of<Sequential>()) {
      quality.sequential.push_back(error);
      continue;
    }
    quality.all.push_back(error);
    if (strategy_of(each.config) == strategy_of<Waiting>()) quality.waiting.push_back(error);
    if (strategy_of(each.config) == strategy_of<PeerStore>()) quality.peer_store.push_back(error);
    if (strategy_of(each.config) == strategy_of<Signaled>() && each.origin == Origin::shortlist) {
      quality.proposed.push_back(error);
    }
  }
  for (auto& [problem, list] : problems) {
    const auto by_time = [](const Seen& a, const Seen& b) { return a.measured < b.measured; };
    const double best = std::min_element(list.begin(), list.end(), by_time)->measured;
    std::sort(list.begin(), list.end(),
              [](const Seen& a, const Seen& b) { return a.predicted < b.predicted; });
    quality.first.push_back(list.front().measured / best - 1);
    const auto some = list.begin() + static_cast<std::ptrdiff_t>(std::min(kShortlist, list.size()));
    quality.five.push_back(std::min_element(list.begin(), some, by_time)->measured / best - 1);
  }
  return quality;
}

std::string brief(const Winner& winner) {
  const Config& config = winner.candidate.config;
  return strategy_of(config) == strategy_of<Signaled>()
             ? brief_exchange(config)
             : fmt::format("{}, {}", to_string(strategy_of(config)), brief_exchange(config));
}

/// The transport of a `signaled` winner, or the strategy of any other.
std::string kind_of(const Winner& winner) {
  const Config& config = winner.candidate.config;
  const auto* signaled = std::get_if<Signaled>(&config);
  return std::string(signaled != nullptr ? to_string(signaled->transport.beside_gemm)
                                         : to_string(strategy_of(config)));
}

void print_winners(const Tuned& real, const Tuned& simulated) {
  std::map<std::string, const Winner*> theirs;
  for (const Winner& winner : simulated.winners) {
    theirs[to_string(winner.candidate.problem)] = &winner;
  }
  fmt::print("| problem | winner | simulated | speedup | simulated |\n|---|---|---|--:|--:|\n");
  for (const Winner& winner : real.winners) {
    const Winner& other = *theirs.at(to_string(winner.candidate.problem));
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |\n", to_string(winner.candidate.problem),
               brief(winner), brief(other), *speedup(winner), *speedup(other));
  }
}

std::string kinds(const Tuned& tuned) {
  std::map<std::string, int> counts;
  for (const Winner& winner : tuned.winners) ++counts[kind_of(winner)];
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  }
  return text;
}

/// Zero where no problem has this op.
double mean_speedup(const Tuned& tuned, Op op) {
  std::vector<double> speedups;
  for (const Winner& winner : tuned.winners) {
    if (winner.candidate.problem.op == op) speedups.push_back(*speedup(winner));
  }
  return speedups.empty() ? 0 : geometric_mean(speedups);
}

/// A column for each machine: the GPUs, and the simulated one if it is there.
void print_summary(const std::vector<Tuned>& machines) {
  std::vector<Quality> qualities;
  for (const Tuned& machine : machines) qualities.push_back(judged(machine));
  const auto row = [&](std::string line, const auto& cell) {
    for (std::size_t i = 0; i < machines.size(); ++i) line += " | " + cell(i);
    fmt::print("| {} |\n", line);
  };
  row("", [&](std::size_t i) { return machines[i].platform.machine; });
  row("---", [](std::size_t) { return std::string("--:"); });
  row("winners", [&](std::size_t i) { return kinds(machines[i]); });
  for (const Named<Op>& op : NamesOf<Op>::all) {
    row(fmt::format("speedup, {}", op.name), [&](std::size_t i) {
      const double speedup = mean_speedup(machines[i], op.value);
      return speedup > 0 ? fmt::format("{:.3f}", speedup) : "–";
    });
  }
  const auto percent = [&](const char* name, std::vector<double> Quality::*part) {
    row(name, [&](std::size_t i) {
      const std::vector<double>& errors = qualities[i].*part;
      return errors.empty() ? "–" : fmt::format("{:.2f}", 100 * mean(errors));
    });
  };
  percent("error of all, %", &Quality::all);
  percent("error of proposed `signaled`, %", &Quality::proposed);
  percent("error of `waiting`, %", &Quality::waiting);
  percent("error of `peer_store`, %", &Quality::peer_store);
  percent("error of `sequential`, %", &Quality::sequential);
  percent("regret of the first choice, %", &Quality::first);
  percent("regret of five, %", &Quality::five);
}

int run(int argc, char** argv) {
  std::string name;
  std::string exported;
  std::string gpus;
  MachineOptions options{.seed = 1};
  bool only_summary = false;
  bool only_gpus = false;
  bool only_configs = false;
  CLI::App app{"Holds a simulated machine beside GPUs."};
  app.add_option("name", name, "the profile")->required();
  app.add_option("--gpus", gpus, "the platform in the database, if it has another name");
  app.add_option("database", exported, "export of a database, as JSON")->required();
  app.add_option("--seed", options.seed);
  app.add_option("--profile", options.profiles, "more profiles");
  app.add_flag("--summary", only_summary, "without the winner of each problem");
  app.add_flag("--only-gpus", only_gpus, "judge the database alone; simulate nothing");
  app.add_flag("--only-configs", only_configs, "run the configs of the database; tune nothing");
  CLI11_PARSE(app, argc, argv);
  const Tuned real = on_gpus(exported, gpus.empty() ? name : gpus);
  if (only_gpus) {
    print_summary({real});
    return 0;
  }
  const auto machine = value_or_throw(open_machine("sim:" + name, options));
  print_simulated_errors(simulated_errors(*machine, real.candidates));
  if (only_configs) return 0;
  fmt::print("\n");
  std::vector<Problem> problems;
  for (const Winner& winner : real.winners) problems.push_back(winner.candidate.problem);
  const Tuned other = simulated(*machine, problems, options.seed);
  if (!only_summary) {
    print_winners(real, other);
    fmt::print("\n");
  }
  print_summary({real, other});
  return 0;
}

}  // namespace
}  // namespace overlaptune

int main(int argc, char** argv) {
  try {
    return overlaptune::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "beside_gpus: {}\n", error.what());
    return 2;
  }
}
