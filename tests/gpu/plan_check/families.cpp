#include "tests/gpu/plan_check/families.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/base/error.hpp"
#include "core/config/recipe.hpp"
#include "tests/gpu/plan_check/every_config.hpp"
#include "tests/gpu/plan_check/judge.hpp"
#include "tests/gpu/plan_check/shared_gpus.hpp"
#include "tests/gpu/plan_check/test_problem.hpp"

namespace overlaptune::plan_check {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// Rows of one row block, in the order in which they come. The family is made for 1024.
constexpr std::array<std::int64_t, 4> kRows{1000, 129, 7, 512};
/// The GPU is busy for so long when a new number of rows comes.
constexpr std::int64_t kBusy = 50'000'000;  // ns
constexpr double kBusyMs = 50;

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  OVT_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

class MadeFamily {
 public:
  /// Collective.
  MadeFamily(Bench& bench, const Problem& most, const Config& config) {
    const ovt_problem asked = problem_of(most);
    std::string recipe(OVT_CONFIG_SIZE, '\0');
    check(ovt_recipe_of(&asked, to_string(config).c_str(), most.m, recipe.data(), recipe.size(),
                        nullptr));
    status_ = ovt_family_create(bench.world(), recipe.c_str(), most.m, &family_);
    if (status_ != OVT_OK) error_ = ovt_run_last_error();
    bench.process().step();
  }
  ~MadeFamily() { ovt_family_destroy(family_); }
  MadeFamily(const MadeFamily&) = delete;
  MadeFamily& operator=(const MadeFamily&) = delete;

  [[nodiscard]] ovt_status status() const { return status_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  void run(std::int64_t rows, const OperandSet& set, cudaStream_t stream) const {
    check(ovt_family_run(family_, rows, set.a.get(), set.b.get(), set.c.get(), stream));
  }

 private:
  ovt_family* family_ = nullptr;
  ovt_status status_;
  std::string error_{};
};

/// Results of a family over all numbers of rows.
struct Seen {
  kernels::Deviation worst{};
  double waited_ms = 0;  ///< longest first run, on a busy stream
  std::size_t taken = 0;
};

/// Runs rows that are new to the family: the first ones on a busy stream, the last ones in a
/// capture.
void run_new(Bench& bench, const MadeFamily& family, TestProblem& test, bool captured, Seen& seen) {
  const OperandSet& set = test.memory().sets[0];
  const std::int64_t rows = test.problem().m;
  test.poison(set.c.get());
  bench.finish();
  const std::size_t before = free_bytes();
  OVT_CHECK(kernels::spin(bench.stream(), kBusy));
  const auto begin = Clock::now();
  if (captured) {
    const run::GraphExec graph = run::instantiated(
        run::captured(bench.stream(), [&](cudaStream_t to) { family.run(rows, set, to); }));
    OVT_CHECK(cudaGraphLaunch(graph.get(), bench.stream()));
    bench.finish();
  } else {
    family.run(rows, set, bench.stream());
    const double ms = Milliseconds(Clock::now() - begin).count();
    seen.waited_ms = std::max(seen.waited_ms, ms);
    bench.finish();
    const std::size_t after = free_bytes();
    if (after < before) seen.taken = std::max(seen.taken, before - after);
  }
  const kernels::Deviation found = test.deviation(0, set.c.get());
  seen.worst.largest = std::max(seen.worst.largest, found.largest);
  seen.worst.not_finite += found.not_finite;
}

void check_op(Bench& bench, Op op, const Selection& selection, Results& results) {
  const Problem most = problem(op, bench.process().ranks());
  std::vector<Problem> problems;
  for (const std::int64_t rows : kRows) {
    problems.push_back(most);
    problems.back().m = op == Op::gemm_all_reduce ? rows : rows * most.ranks;
  }
  const OwnMemory memory(problems);
  Judge judge;
  for (const Config& config : selection.of(most, configs(most))) {
    const std::string name = "family " + name_of(most, config);
    if (const std::string why = obstacle(bench.process().placement(), config); !why.empty()) {
      results.skip(name, why);
      continue;
    }
    const MadeFamily family(bench, most, config);
    if (family.status() != OVT_OK) {
      results.row(name, false, family.error());
      continue;
    }
    Seen seen;
    for (const Problem& each : problems) {
      TestProblem test(bench, memory, each);
      run_new(bench, family, test, &each == &problems.back(), seen);
    }
    judge.row(name, seen.worst, results);
    const double waited = bench.largest(seen.waited_ms);
    results.row(name + " is not waited for", waited < kBusyMs / 2,
                fmt::format("a first run takes up to {:.2f} ms on the host", waited));
    const auto taken = static_cast<std::size_t>(bench.largest(static_cast<double>(seen.taken)));
    results.row(name + " takes no memory", taken == 0, fmt::format("{} bytes", taken));
  }
}

}  // namespace

void check_families(Bench& bench, const Selection& selection, Results& results) {
  for (const auto& [op, name] : NamesOf<Op>::all) {
    if (!selection.op || *selection.op == op) check_op(bench, op, selection, results);
  }
}

}  // namespace overlaptune::plan_check
