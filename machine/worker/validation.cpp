#include "machine/worker/validation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "machine/worker/alone.hpp"
#include "machine/worker/entry.hpp"
#include "machine/worker/probes/probes.hpp"
#include "machine/worker/surroundings.hpp"
#include "machine/worker/tracer.hpp"
#include "run/deployed.hpp"
#include "run/strategy_runner.hpp"

namespace overlaptune::cuda {
namespace {

/// A candidate's error may exceed that of `sequential` on the same inputs by this factor.
constexpr double kAllowance = 1.5;
/// Time-out of a checked run of a candidate: `kPatience`, and `kSlowest` times what a run of
/// `sequential` took. It is well within the time-out of the worker (machine/controller/limits.cpp).
constexpr Seconds kPatience{4};
constexpr double kSlowest = 100;
/// Time until clock and power are those of this mix. The driver holds the power limit on the mean
/// over about a second. Later validations of the same problem are alike, and need no more than what
/// the GPU rested in between, while kernels were compiled.
constexpr Microseconds kMostSettling = us(1'000'000);
constexpr Microseconds kSettling = us(100'000);
/// Largest error of `sequential` itself: the rounding of the elements and of every sum on the way.
constexpr double kMostRounding = 0.03;
constexpr std::string_view kAfterTiming = "in replays that follow one another at once: ";

/// The rounding of the result alone; an error up to this is always allowed.
double unit_roundoff(Dtype result) {
  switch (result) {
    case Dtype::bf16:
      return 1.0 / 512;
    case Dtype::fp16:
      return 1.0 / 2048;
    case Dtype::e4m3:  // of no result
      break;
  }
  return 0;
}

/// Makes the plan of a config. Collective. Error: as `check`, or as `make_plan`.
Expected<std::unique_ptr<run::Plan>> plan_of(Workbench& bench, const TestProblem& problem,
                                             const Config& config, Launch launch,
                                             run::Mutant mutant = run::Mutant::none) {
  const auto work = Work::make(problem.problem(), config);
  if (!work) return error_of(work);
  run::Engine engine = bench.engine();
  engine.exclusive = is_exclusive(launch);
  return run::make_plan(
      {.engine = engine, .work = *work, .operands = problem.operands(), .mutant = mutant});
}

/// For a config whose plan was made.
bool through_world(const Problem& problem, const Config& config) {
  return run::goes_through_world(*Work::make(problem, config));
}

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
  entry.make_ready();
  OVT_CHECK(cudaStreamSynchronize(stream));
  const bool recording = succeeds([&] { tracer.start(); });
  OVT_CHECK(kernels::spin(stream, 200'000));
  bench.world.barrier(stream);
  entry(stream, 0);
  OVT_CHECK(cudaStreamSynchronize(stream));
  std::vector<Activity> seen;
  if (recording) succeeds([&] { seen = tracer.stop(bench.world.rank()); });
  if (tracer.dropped() > 0) return {};  // a trace with holes would mislead
  const auto barrier = std::ranges::find(seen, ActivityKind::collective, &Activity::kind);
  if (barrier == seen.end()) return seen;
  seen.erase(seen.begin(), barrier + 1);
  const Microseconds start = seen.empty() ? us(0) : seen.front().start;
  for (Activity& activity : seen) {
    activity.start -= start;
    activity.end -= start;
  }
  return seen;
}

/// Puts the verdict on the runs into `samples`. Returns false if the config did not pass; `when`
/// opens the reason.
bool passes(const CheckedRuns& runs, double allowed, Seconds patience, std::string_view when,
            ConfigSamples& samples) {
  if (!runs.ended) {
    samples.verdict = Verdict::timeout;
    samples.reason = fmt::format("{}it did not end within {:.2g} s", when, patience.count());
    return false;
  }
  const std::string wrong = complaint(runs.worst, allowed);
  if (wrong.empty()) return true;
  samples.verdict = Verdict::wrong;
  samples.reason = fmt::format("{}{}", when, wrong);
  return false;
}

}  // namespace

Expected<RunReply> validate(Workbench& bench, TestProblem& problem, const RunRequest& request,
                            const std::function<void(const RunStep&)>& at) {
  at({.config = -1, .step = "prepare"});
  if (auto laid = problem.lay_apart(request.own_memory); !laid) return error_of(laid);
  auto baseline = plan_of(bench, problem, Config{}, request.launch);
  if (!baseline) return error_of(baseline);
  Entry reference(bench, problem, std::move(*baseline), request.launch,
                  through_world(request.problem, Config{}), std::chrono::hours(1));
  const CheckedRuns rounding = check_runs(reference);
  const Seconds patience = kPatience + kSlowest * rounding.last;
  if (const std::string wrong = complaint(rounding.worst, kMostRounding); !wrong.empty()) {
    throw Failure(ErrorKind::machine_unavailable, fmt::format("{}: sequential itself is wrong: {}",
                                                              to_string(request.problem), wrong));
  }

  auto surroundings = Surroundings::make(bench, request.phase);
  if (!surroundings) return error_of(surroundings);
  const double allowed = std::max(kAllowance * rounding.worst.largest,
                                  unit_roundoff(result_of(request.problem.elements)));

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
    auto plan = plan_of(bench, problem, request.configs[i], request.launch, fault.mutant);
    // If one rank cannot make the plan, none runs it: the others would wait for it.
    if (bench.world.largest(plan ? 0 : 1) > 0) {
      samples.verdict = Verdict::unsupported;
      samples.reason = plan ? "another rank cannot" : plan.error().message;
      continue;
    }
    entries[i] = std::make_unique<Entry>(bench, problem, std::move(*plan), request.launch,
                                         through_world(request.problem, request.configs[i]),
                                         patience, fault);
    at({.config = index, .step = "check"});
    inject(fault, bench.world);
    const CheckedRuns runs = fault.kind == Fault::Kind::delays ? check_delayed_runs(*entries[i])
                                                               : check_runs(*entries[i]);
    if (!passes(runs, allowed, patience, "", samples)) continue;
    tasks.emplace_back(std::ref(*entries[i]));
    timed.push_back(i);
  }

  auto alone = Alone::make(bench.world, bench.library, request.problem, problem.operands());
  if (!alone) return error_of(alone);
  tasks.emplace_back(std::cref(alone->gemm));
  tasks.emplace_back(std::cref(alone->collective));
  // A hang is most likely the newest config's.
  at({.config = timed.empty() ? -1 : static_cast<int>(timed.back()), .step = "time"});
  if (request.phase != RunPhase::cold) {
    bench.timer.settle(tasks, problem.first_validation() ? kMostSettling : kSettling,
                       kMostSettling);
  }
  const int repetitions = std::max(request.repetitions, 1);
  auto results = request.spread ? bench.timer.spread_rounds(tasks, repetitions, kSettling)
                                : bench.timer.rounds(tasks, repetitions, (*surroundings)->around());
  for (std::size_t w = 0; w < timed.size(); ++w) {
    reply.configs[timed[w]].conditions = bench.conditions(results[w]);
    reply.configs[timed[w]].times = std::move(results[w].times);
  }
  reply.gemm_alone = std::move(results[timed.size()].times);
  reply.collective_alone = std::move(results[timed.size() + 1].times);
  std::vector<std::size_t> valid;
  for (const std::size_t i : timed) {
    at({.config = static_cast<int>(i), .step = "check"});
    ConfigSamples& samples = reply.configs[i];
    if (passes(check_replays(*entries[i]), allowed, patience, kAfterTiming, samples)) {
      valid.push_back(i);
    } else {
      samples.times.clear();
      samples.conditions = {};
    }
  }
  if (request.trace) {
    at({.config = valid.empty() ? -1 : static_cast<int>(valid.back()), .step = "trace"});
    const auto tracer = Tracer::open();
    // All ranks record or none: a repetition needs all of them.
    if (bench.world.largest(tracer ? 0 : 1) == 0) {
      for (const std::size_t i : valid) {
        reply.configs[i].activities = traced(bench, *entries[i], **tracer);
      }
    }
  }
  return reply;
}

}  // namespace overlaptune::cuda
