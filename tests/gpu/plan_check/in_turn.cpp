#include "tests/gpu/plan_check/in_turn.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "core/base/error.hpp"
#include "tests/gpu/plan_check/every_config.hpp"
#include "tests/gpu/plan_check/judge.hpp"
#include "tests/gpu/plan_check/shared_gpus.hpp"
#include "tests/gpu/plan_check/test_problem.hpp"

namespace overlaptune::plan_check {
namespace {

/// Rounds in which each plan runs once, in an order of its own; fewer where ranks share GPUs and
/// every exchange takes milliseconds.
constexpr int kRounds = 20;
constexpr int kFewRounds = 2;
/// Most nanoseconds that a rank is late: a few times what a run takes.
constexpr std::int64_t kLongestDelay = 300'000;

/// The plans of one problem, with operands of their own.
class PlansOfProblem {
 public:
  /// A plan that cannot be made is a row that failed.
  PlansOfProblem(Bench& bench, const Problem& of, const std::vector<Config>& list, Results& results)
      : problem_(of), memory_(std::span(&of, 1)), test_(bench, memory_, of) {
    for (const Config& config : list) {
      if (!obstacle(bench.process().placement(), config).empty()) continue;
      auto plan = std::make_unique<MadePlan>(bench, of, config);
      if (plan->status() != OVT_OK) {
        results.row(name_of(of, config), false, plan->error());
        continue;
      }
      names_.push_back(name_of(of, config));
      plans_.push_back(std::move(plan));
    }
  }

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::size_t count() const { return plans_.size(); }
  [[nodiscard]] const std::string& name(std::size_t plan) const { return names_[plan]; }

  /// Makes a graph of each plan on each operand set.
  void capture(cudaStream_t stream) {
    for (std::size_t plan = 0; plan < count(); ++plan) {
      for (std::size_t set = 0; set < memory_.sets.size(); ++set) {
        graphs_.push_back(run::instantiated(
            run::captured(stream, [&](cudaStream_t to) { enqueue(plan, set, to); })));
      }
    }
  }

  /// Enqueues a run behind a write of NaN to its result, and the comparison of the result behind
  /// the run.
  void run(std::size_t plan, std::size_t set, cudaStream_t stream, kernels::Deviation* into) const {
    void* const c = memory_.sets[set].c.get();
    test_.poison(c);
    if (graphs_.empty()) {
      enqueue(plan, set, stream);
    } else {
      OVT_CHECK(cudaGraphLaunch(graphs_[plan * memory_.sets.size() + set].get(), stream));
    }
    test_.compare(set, c, into);
  }

 private:
  void enqueue(std::size_t plan, std::size_t set, cudaStream_t stream) const {
    const OperandSet& on = memory_.sets[set];
    plans_[plan]->run(on.a.get(), on.b.get(), on.c.get(), stream);
  }

  Problem problem_;
  OwnMemory memory_;
  TestProblem test_;
  std::vector<std::string> names_{};
  std::vector<std::unique_ptr<MadePlan>> plans_{};
  std::vector<run::GraphExec> graphs_{};
};

/// A plan among those of all problems.
struct Turn {
  std::size_t problem = 0;
  std::size_t plan = 0;
  std::size_t number = 0;
};

using AllPlans = std::vector<std::unique_ptr<PlansOfProblem>>;

std::vector<Turn> turns_of(const AllPlans& all) {
  std::vector<Turn> turns;
  for (std::size_t problem = 0; problem < all.size(); ++problem) {
    for (std::size_t plan = 0; plan < all[problem]->count(); ++plan) {
      turns.push_back({problem, plan, turns.size()});
    }
  }
  return turns;
}

/// The largest error of each plan, on any rank.
std::vector<kernels::Deviation> run_in_turn(Bench& bench, const AllPlans& all) {
  std::vector<Turn> turns = turns_of(all);
  std::vector<kernels::Deviation> seen(turns.size());
  const std::size_t bytes = seen.size() * sizeof seen[0];
  const run::DeviceMemory memory = run::device_memory(bytes);
  auto* const deviations = static_cast<kernels::Deviation*>(memory.get());
  OVT_CHECK(cudaMemsetAsync(deviations, 0, bytes, bench.stream()));
  std::minstd_rand common(1);  // all ranks run the same plans
  std::minstd_rand own(static_cast<unsigned>(2 + bench.process().rank()));
  const int rounds = bench.process().placement().shares_gpus() ? kFewRounds : kRounds;
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(turns.begin(), turns.end(), common);
    for (const Turn& turn : turns) {
      const std::size_t set = common() % 2;
      OVT_CHECK(kernels::spin(bench.stream(), static_cast<std::int64_t>(own()) % kLongestDelay));
      all[turn.problem]->run(turn.plan, set, bench.stream(), deviations + turn.number);
    }
  }
  OVT_CHECK(
      cudaMemcpyAsync(seen.data(), deviations, bytes, cudaMemcpyDeviceToHost, bench.stream()));
  bench.finish();
  std::vector<double> values;
  for (const kernels::Deviation& each : seen) {
    values.insert(values.end(), {each.largest, static_cast<double>(each.not_finite)});
  }
  values = bench.largest(values);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i] = {values[2 * i], static_cast<unsigned long long>(values[2 * i + 1])};
  }
  return seen;
}

/// A row for each problem.
void judge(Bench& bench, const AllPlans& all, const std::string& launch, Results& results) {
  const std::vector<kernels::Deviation> seen = run_in_turn(bench, all);
  std::size_t next = 0;
  for (const auto& plans : all) {
    Results found{};
    Judge judge;
    for (std::size_t plan = 0; plan < plans->count(); ++plan) {
      judge.row(plans->name(plan), seen[next++], found);
    }
    results.row(
        fmt::format("{} in turn, {}", to_string(plans->problem()), launch), found.failed == 0,
        fmt::format("{} of {} plans right {}", found.passed, plans->count(), found.first_failure));
  }
}

}  // namespace

void check_in_turn(Bench& bench, const Selection& selection, Results& results) {
  AllPlans all;
  const auto add = [&](const Problem& of, const std::vector<Config>& configs) {
    const std::vector<Config> list = selection.of(of, configs);
    if (!list.empty()) all.push_back(std::make_unique<PlansOfProblem>(bench, of, list, results));
  };
  const int ranks = bench.process().ranks();
  for (const auto& [op, name] : NamesOf<Op>::all) {
    add(problem(op, ranks), configs(problem(op, ranks)));
    add(small_problem(op, ranks), small_configs(small_problem(op, ranks)));
  }
  judge(bench, all, "eager", results);
  for (const auto& plans : all) plans->capture(bench.stream());
  judge(bench, all, "captured", results);
}

}  // namespace overlaptune::plan_check
