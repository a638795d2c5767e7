#include "machine/cuda/worker/validation.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/error.hpp"
#include "machine/cuda/worker/alone.hpp"
#include "machine/cuda/worker/fault.hpp"
#include "machine/cuda/worker/probes.hpp"
#include "machine/cuda/worker/tracer.hpp"
#include "run/make_plan.hpp"

namespace overlaptune::cuda {
namespace {

/// A candidate's error may exceed that of `sequential` on the same inputs by this factor.
constexpr double kAllowance = 1.5;
constexpr int kCheckedRuns = 2;
/// Time-out of a checked run of a candidate: `kPatience`, and `kSlowest` times what a run of
/// `sequential` took. It is well within the time-out of the worker (machine/cuda/limits.cpp).
constexpr std::chrono::duration<double> kPatience{4};
constexpr double kSlowest = 100;
/// Time until clock and power are those of this mix. The driver holds the power limit on the mean
/// over about a second. Later validations of the same problem are alike, and need less.
constexpr Microseconds kFirstSettling = us(1'000'000);
constexpr Microseconds kSettling = us(100'000);
/// Largest error of `sequential` itself: the rounding of the elements and of every sum on the way.
constexpr double kMostRounding = 0.03;

/// The rounding of the result alone; an error up to this is always allowed.
double unit_roundoff(Dtype dtype) {
  return dtype == Dtype::bf16 ? 1.0 / 512 : 1.0 / 2048;
}

/// Makes the plan of a config. Collective. Error: as `check`, or as `make_plan`.
Expected<std::unique_ptr<run::Plan>> plan_of(Workbench& bench, const TestProblem& problem,
                                             const Config& config,
                                             run::Mutant mutant = run::Mutant::none) {
  const auto work = Work::make(problem.problem(), config);
  if (!work) return error_of(work);
  return run::make_plan(bench.engine(), *work, problem.operands(), mutant);
}

/// A plan as it is launched: by a graph for each buffer set, or eagerly.
class Entry {
 public:
  Entry(Workbench& bench, const TestProblem& problem, std::unique_ptr<run::Plan> plan,
        Launch launch)
      : problem_(problem), plan_(std::move(plan)), launch_(launch) {
    make_ready(bench);
  }

  /// Captures the graphs. Called again for a tracer, which must be open when graphs are made.
  void make_ready(Workbench& bench) {
    if (launch_ == Launch::eager) return;
    replay_.emplace(bench.world, static_cast<int>(problem_.operands().size()),
                    [this](cudaStream_t stream, int set) { submit(stream, set); });
  }

  void release(cudaStream_t aside) { plan_->release(aside); }

  void operator()(cudaStream_t stream, int turn) {
    const int sets = static_cast<int>(problem_.operands().size());
    if (replay_) {
      (*replay_)(stream, turn);
    } else {
      submit(stream, turn % sets);
    }
  }

 private:
  void submit(cudaStream_t stream, int set) {
    plan_->enqueue(stream, problem_.operands()[static_cast<std::size_t>(set)]);
  }

  const TestProblem& problem_;
  std::unique_ptr<run::Plan> plan_;
  Launch launch_;
  std::optional<Replay> replay_{};
};

/// Returns false after a `Failure`: a profiler that fails costs the trace, but not the times.
template <class Call>
bool succeeds(Call&& call) {
  try {
    call();
    return true;
  } catch (const Failure&) {
    return false;
  }
}

/// The activities of one more repetition, without the barrier ahead of it.
std::vector<Activity> traced(Workbench& bench, Entry& entry, Tracer& tracer) {
  const cudaStream_t stream = bench.world.stream();
  entry.make_ready(bench);
  OVT_CHECK(cudaStreamSynchronize(stream));
  const bool recording = succeeds([&] { tracer.start(); });
  kernels::spin(stream, 200'000);
  bench.world.barrier(stream);
  entry(stream, 0);
  OVT_CHECK(cudaStreamSynchronize(stream));
  std::vector<Activity> seen;
  if (recording) succeeds([&] { seen = tracer.stop(bench.world.rank()); });
  if (tracer.dropped() > 0) return {};  // a trace with holes would mislead
  const auto barrier = std::find_if(seen.begin(), seen.end(), [](const Activity& activity) {
    return activity.kind == ActivityKind::collective;
  });
  if (barrier == seen.end()) return seen;
  seen.erase(seen.begin(), barrier + 1);
  const Microseconds start = seen.empty() ? us(0) : seen.front().start;
  for (Activity& activity : seen) {
    activity.start -= start;
    activity.end -= start;
  }
  return seen;
}

using Seconds = std::chrono::duration<double>;

bool ends_within(cudaStream_t stream, Seconds limit) {
  constexpr Seconds kSoon{0.01};
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) {
      OVT_CHECK(state);
      return true;
    }
    static_cast<void>(cudaGetLastError());  // not an error, but CUDA may keep it as one
    const Seconds past = std::chrono::steady_clock::now() - start;
    if (past > limit) return false;
    if (past > kSoon) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

/// Waits until the enqueued work has ended on all ranks. Returns false if it ended only after a
/// release of its waits for signals, which is repeated if several runs are under way. If a release
/// does not help, the controller ends the worker.
bool ends(Workbench& bench, Entry& entry, Seconds patience) {
  OVT_CHECK(cudaGetLastError());
  bool late = false;
  while (!ends_within(bench.world.stream(), patience)) {
    late = true;
    entry.release(bench.aside.get());
    OVT_CHECK(cudaStreamSynchronize(bench.aside.get()));
  }
  return bench.world.largest(late ? 1 : 0) == 0;
}

/// The results of several runs, each on other inputs.
struct CheckedRuns {
  kernels::Deviation worst{};
  bool ended = true;  ///< each run ended in time, on all ranks
  Seconds last{};     ///< time of the last run
};

/// Checks several runs. With `delays` it checks a thousand, each of two executions in a row; before
/// each execution the last rank waits for up to a few times what a run takes.
CheckedRuns checked(Workbench& bench, TestProblem& problem, Entry& entry, Seconds patience,
                    bool delays = false) {
  constexpr int kDelayedRuns = 1000;
  constexpr std::int64_t kLongestDelay = 2'000'000;  // ns
  std::minstd_rand random(1);
  const auto delay = [&] {
    const auto nanoseconds = static_cast<std::int64_t>(random()) % kLongestDelay;
    if (delays && bench.world.rank() + 1 == bench.world.ranks()) {
      kernels::spin(bench.world.stream(), nanoseconds);
    }
  };
  CheckedRuns runs;
  for (int run = 0; run < (delays ? kDelayedRuns : kCheckedRuns); ++run) {
    const int set = run % problem.checked_sets();
    problem.poison(set);
    const auto start = std::chrono::steady_clock::now();
    delay();
    entry(bench.world.stream(), set);
    if (delays) {
      delay();
      entry(bench.world.stream(), set);
    }
    runs.ended = ends(bench, entry, patience);
    runs.last = std::chrono::steady_clock::now() - start;
    if (!runs.ended) break;
    const kernels::Deviation seen = problem.deviation(set);
    runs.worst.largest = std::max(runs.worst.largest, seen.largest);
    runs.worst.not_finite = std::max(runs.worst.not_finite, seen.not_finite);
  }
  return runs;
}

/// The reason why a result is wrong; empty if it is correct.
std::string complaint(const kernels::Deviation& seen, double allowed) {
  if (seen.not_finite > 0) {
    return fmt::format("{} elements of the result were not written or are not finite",
                       seen.not_finite);
  }
  if (!(seen.largest <= allowed)) {
    return fmt::format("a relative error of {:.3g}, expected at most {:.3g}", seen.largest,
                       allowed);
  }
  return {};
}

}  // namespace

Expected<RunReply> validate(Workbench& bench, TestProblem& problem, const RunRequest& request,
                            const std::function<void(const RunStep&)>& at) {
  at({.config = -1, .step = "prepare"});
  auto baseline = plan_of(bench, problem, Config{});
  if (!baseline) return error_of(baseline);
  Entry reference(bench, problem, std::move(*baseline), request.launch);
  const CheckedRuns rounding = checked(bench, problem, reference, std::chrono::hours(1));
  const Seconds patience = kPatience + kSlowest * rounding.last;
  if (const std::string wrong = complaint(rounding.worst, kMostRounding); !wrong.empty()) {
    throw Failure(ErrorKind::machine_unavailable, fmt::format("{}: sequential itself is wrong: {}",
                                                              to_string(request.problem), wrong));
  }

  const double allowed =
      std::max(kAllowance * rounding.worst.largest, unit_roundoff(request.problem.dtype));

  RunReply reply;
  reply.configs.resize(request.configs.size());
  std::vector<std::unique_ptr<Entry>> entries(request.configs.size());
  std::vector<Task> tasks;
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < request.configs.size(); ++i) {
    const int index = static_cast<int>(i);
    ConfigSamples& samples = reply.configs[i];
    at({.config = index, .step = "prepare"});
    const Fault fault = fault_for(request.fault, index);
    auto plan = plan_of(bench, problem, request.configs[i], fault.mutant);
    // If one rank cannot make the plan, none runs it: the others would wait for it.
    if (bench.world.largest(plan ? 0 : 1) > 0) {
      samples.verdict = Verdict::unsupported;
      samples.reason = plan ? "another rank cannot" : plan.error().message;
      continue;
    }
    entries[i] = std::make_unique<Entry>(bench, problem, std::move(*plan), request.launch);
    at({.config = index, .step = "check"});
    inject(fault, bench.world);
    const CheckedRuns runs =
        checked(bench, problem, *entries[i], patience, fault.kind == Fault::Kind::delays);
    if (!runs.ended) {
      samples.verdict = Verdict::timeout;
      samples.reason = fmt::format("it did not end within {:.2g} s", patience.count());
      continue;
    }
    if (const std::string wrong = complaint(runs.worst, allowed); !wrong.empty()) {
      samples.verdict = Verdict::wrong;
      samples.reason = wrong;
      continue;
    }
    tasks.push_back([&entry = *entries[i]](cudaStream_t stream, int turn) { entry(stream, turn); });
    timed.push_back(i);
  }

  auto alone = Alone::make(bench.world, bench.library, request.problem, problem.operands());
  if (!alone) return error_of(alone);
  tasks.push_back([&](cudaStream_t stream, int turn) { alone->gemm(stream, turn); });
  tasks.push_back([&](cudaStream_t stream, int turn) { alone->collective(stream, turn); });
  // A hang is most likely the newest config's.
  at({.config = timed.empty() ? -1 : static_cast<int>(timed.back()), .step = "time"});
  bench.timer.sustain(tasks, problem.first_validation() ? kFirstSettling : kSettling);
  const int repetitions = std::max(request.repetitions, 1);
  auto results = request.spread ? bench.timer.spread_rounds(tasks, repetitions, kSettling)
                                : bench.timer.rounds(tasks, repetitions);
  for (std::size_t w = 0; w < timed.size(); ++w) {
    reply.configs[timed[w]].conditions = bench.conditions(results[w]);
    reply.configs[timed[w]].times = std::move(results[w].times);
  }
  if (request.trace) {
    at({.config = timed.empty() ? -1 : static_cast<int>(timed.back()), .step = "trace"});
    const auto tracer = Tracer::open();
    // All ranks record or none: a repetition needs all of them.
    if (bench.world.largest(tracer ? 0 : 1) == 0) {
      for (const std::size_t i : timed) {
        reply.configs[i].activities = traced(bench, *entries[i], **tracer);
      }
    }
  }
  reply.gemm_alone = std::move(results[timed.size()].times);
  reply.collective_alone = std::move(results[timed.size() + 1].times);
  return reply;
}

}  // namespace overlaptune::cuda
