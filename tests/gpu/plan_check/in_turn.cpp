#include "tests/gpu/plan_check/in_turn.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "core/error.hpp"
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

/// The plans of one op, with operands of their own.
class PlansOfOp {
 public:
  PlansOfOp(Bench& bench, const Problem& of, const std::vector<Config>& list)
      : problem_(of), memory_(std::span(&of, 1)), test_(bench, memory_, of) {
    for (const Config& config : list) {
      if (!obstacle(bench.process().placement(), config).empty()) continue;
      names_.push_back(name_of(of, config));
      plans_.push_back(std::make_unique<MadePlan>(bench, of, config));
      check(plans_.back()->status());
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

/// A plan among those of all ops.
struct Turn {
  std::size_t op = 0;
  std::size_t plan = 0;
  std::size_t number = 0;
};

using Ops = std::vector<std::unique_ptr<PlansOfOp>>;

std::vector<Turn> turns_of(const Ops& ops) {
  std::vector<Turn> turns;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    for (std::size_t plan = 0; plan < ops[op]->count(); ++plan) {
      turns.push_back({op, plan, turns.size()});
    }
  }
  return turns;
}

/// The largest error of each plan, on any rank.
std::vector<kernels::Deviation> run_in_turn(Bench& bench, const Ops& ops) {
  std::vector<Turn> turns = turns_of(ops);
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
      kernels::spin(bench.stream(), static_cast<std::int64_t>(own()) % kLongestDelay);
      ops[turn.op]->run(turn.plan, set, bench.stream(), deviations + turn.number);
    }
  }
  OVT_CHECK(cudaGetLastError());
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

/// A row for each op.
void judge(Bench& bench, const Ops& ops, const std::string& launch, Results& results) {
  const std::vector<kernels::Deviation> seen = run_in_turn(bench, ops);
  std::size_t next = 0;
  for (const auto& op : ops) {
    Results found{};
    Judge judge;
    for (std::size_t plan = 0; plan < op->count(); ++plan) {
      judge.row(op->name(plan), seen[next++], found);
    }
    results.row(
        fmt::format("{} in turn with others, {}", to_string(op->problem().op), launch),
        found.failed == 0,
        fmt::format("{} of {} plans right {}", found.passed, op->count(), found.first_failure));
  }
}

}  // namespace

void check_in_turn(Bench& bench, const Selection& selection, Results& results) {
  Ops ops;
  for (const Op op : kOps) {
    const Problem of = problem(op, bench.process().ranks());
    const std::vector<Config> list = selection.of(of, configs(of));
    if (!list.empty()) ops.push_back(std::make_unique<PlansOfOp>(bench, of, list));
  }
  judge(bench, ops, "eager", results);
  for (const auto& op : ops) op->capture(bench.stream());
  judge(bench, ops, "captured", results);
}

}  // namespace overlaptune::plan_check
