#include "machine/controller/cuda_machine.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/config/check.hpp"
#include "core/gpu_sharing.hpp"
#include "machine/controller/fault_attribution.hpp"
#include "machine/controller/launch/agent.hpp"
#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/merge.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kMostFailures = 3;

tl::unexpected<Error> no_machine(const std::string& message) {
  return unavailable("machine cuda: " + message);
}

/// The slots without a launcher: all on this host.
std::vector<std::unique_ptr<WorkerSlot>> local_slots(const CudaOptions& options, int port,
                                                     const std::string& secret) {
  std::vector<std::unique_ptr<WorkerSlot>> slots;
  slots.reserve(static_cast<std::size_t>(options.ranks));
  for (int rank = 0; rank < options.ranks; ++rank) {
    WorkerCall call{.program = options.worker,
                    .host = "127.0.0.1",
                    .port = port,
                    .rank = rank,
                    .local_rank = rank / options.ranks_per_gpu,
                    .secret = secret};
    if (options.ranks_per_gpu > 1) call.environment = variables_of_sharing_rank(rank);
    slots.push_back(std::make_unique<LocalSlot>(std::move(call)));
  }
  return slots;
}

/// The answers, all of type T. Error: a refusal, or an answer of another type.
template <class T>
Expected<std::vector<T>> only(std::vector<Reply> replies) {
  std::vector<T> answers;
  for (Reply& reply : replies) {
    if (const auto* refused = std::get_if<Refused>(&reply)) return bad_input(refused->message);
    auto* answer = std::get_if<T>(&reply);
    if (answer == nullptr) return no_machine("a worker answered something else than was asked");
    answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace

Expected<std::unique_ptr<CudaMachine>> CudaMachine::open(const CudaOptions& options,
                                                         std::optional<Listener> listener) {
  if (!listener) {
    auto opened = listen_for_ranks(options.launch);
    if (!opened) return no_machine(opened.error().message);
    listener.emplace(std::move(*opened));
  }
  const bool launched = options.launch.launcher != Launcher::plain;
  const auto secret = launched ? job_secret(options.launch) : new_secret();
  if (!secret) return no_machine(secret.error().message);
  Rendezvous rendezvous(std::move(*listener));
  auto slots = launched ? meet_agents(rendezvous, options.launch, *secret,
                                      {.worker = options.worker,
                                       .version = options.version,
                                       .limit = options.limits.meet})
                        : local_slots(options, rendezvous.port(), *secret);
  if (!slots) return no_machine(slots.error().message);
  auto pool = std::make_unique<WorkerPool>(std::move(rendezvous), std::move(*slots),
                                           PoolOptions{.version = options.version,
                                                       .secret = *secret,
                                                       .allow_multicast = options.allow_multicast,
                                                       .start_limit = options.limits.start,
                                                       .join_limit = options.limits.join});
  if (const auto started = pool->start(); !started) return no_machine(started.error().message);
  auto platform = merge(pool->hellos(), options.allow_multicast, options.ranks_per_gpu);
  if (!platform) return no_machine(platform.error().message);
  return std::unique_ptr<CudaMachine>(
      new CudaMachine(options, std::move(pool), std::move(*platform)));
}

CudaMachine::CudaMachine(CudaOptions options, std::unique_ptr<WorkerPool> pool, Platform platform)
    : options_(std::move(options)),
      pool_(std::move(pool)),
      platform_(std::move(platform)),
      capabilities_(capabilities_of(platform_)) {}

tl::unexpected<Error> CudaMachine::lose(const std::string& reason) {
  lost_ = reason;
  static_cast<void>(pool_->kill());
  return no_machine(reason);
}

/// Starts all workers again after one was lost. If that fails it tries once more, because a GPU or
/// the fabric may take a moment to recover from the fault.
Expected<void> CudaMachine::recover() {
  auto started = pool_->start();
  if (!started) {
    spdlog::warn("the workers cannot be started again, trying once more: {}",
                 started.error().message);
    started = pool_->start();
  }
  if (!started) return lose(started.error().message);
  return {};
}

Expected<void> CudaMachine::count_failure(const std::string& reason) {
  if (++failures_ < kMostFailures) return {};
  return lose(fmt::format("{} failures in a row, the last one: {}", failures_, reason));
}

Expected<void> CudaMachine::count_and_recover(const std::string& reason) {
  const auto alive = count_failure(reason);
  return alive ? recover() : alive;
}

Expected<void> CudaMachine::prepare(std::span<const TiledKernel> kernels) {
  if (!lost_.empty()) return no_machine(lost_);
  if (kernels.empty()) return {};
  const auto replies = pool_->ask(PrepareRequest{{kernels.begin(), kernels.end()}},
                                  [this](const RunStep*) { return options_.limits.unknown; });
  if (replies) return {};
  spdlog::warn("{} kernels could not be compiled ahead: {}", kernels.size(),
               replies.error().reason);
  return count_and_recover(replies.error().reason);
}

Expected<Measurement> CudaMachine::measure(const Probe& probe) {
  if (!lost_.empty()) return no_machine(lost_);
  auto replies =
      pool_->ask(MeasureRequest{probe}, [this](const RunStep*) { return options_.limits.unknown; });
  if (!replies) {
    const std::string& reason = replies.error().reason;
    spdlog::warn("{}: {}", to_string(probe), reason);
    if (const auto alive = count_and_recover(reason); !alive) return error_of(alive);
    return bad_input(fmt::format("{}: {}", to_string(probe), reason));
  }
  failures_ = 0;
  const auto samples = only<Samples>(std::move(*replies));
  if (!samples) return error_of(samples);
  auto measurement = merge(probe, *samples);
  if (!measurement) return lose(measurement.error().message);
  return measurement;
}

std::string CudaMachine::take_fault(std::size_t configs) {
  std::size_t index = 0;
  const std::string& fault = options_.fault;
  const auto [end, failure] = std::from_chars(fault.data(), fault.data() + fault.size(), index);
  if (failure != std::errc{} || index >= configs) return {};
  return std::exchange(options_.fault, {});
}

/// The configs of one run. Those that fail are taken out; the others are run again.
class CudaMachine::RunLoop {
 public:
  RunLoop(CudaMachine& machine, const Problem& problem, std::span<const Config> configs,
          const RunOptions& options)
      : machine_(machine),
        problem_(problem),
        configs_(configs),
        options_(options),
        results_(configs.size()) {
    // A worker cannot read a message with an illegal config, so those are not sent.
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const auto legal = check(problem, configs[i], machine.capabilities());
      if (legal) {
        remaining_.push_back(i);
      } else {
        results_[i] = {.verdict = Verdict::unsupported, .reason = legal.error().message};
      }
    }
  }

  Expected<std::vector<RunResult>> run() {
    if (remaining_.empty()) return std::move(results_);
    std::string last_reason;
    while (!remaining_.empty()) {
      auto replies = ask();
      if (replies) return finish(std::move(*replies));
      last_reason = replies.error().reason;
      exclude(replies.error());
      if (const auto alive = machine_.recover(); !alive) return error_of(alive);
    }
    // All configs failed, so the fault may be the machine's.
    if (const auto alive = machine_.count_failure(last_reason); !alive) return error_of(alive);
    return std::move(results_);
  }

 private:
  tl::expected<std::vector<Reply>, Loss> ask() {
    const bool is_steady = options_.phase == RunPhase::steady;
    RunRequest request{.problem = problem_,
                       .launch = options_.launch,
                       .repetitions = options_.repetitions,
                       .seed = machine_.options_.seed,
                       .spread = options_.spread && is_steady,
                       .phase = options_.phase,
                       .own_memory = options_.own_memory,
                       .trace = options_.timeline && is_steady,
                       .fault = machine_.take_fault(remaining_.size())};
    std::vector<Microseconds> expected;
    for (const std::size_t i : remaining_) {
      request.configs.push_back(configs_[i]);
      if (i < options_.expected.size()) expected.push_back(options_.expected[i]);
    }
    return machine_.pool_->ask(request, [&](const RunStep* step) {
      return limit_after(step, machine_.options_.limits, expected, options_.repetitions);
    });
  }

  /// Takes out the config at fault. A failure at no config in particular may be an accident, so the
  /// first one is followed by another attempt.
  void exclude(const Loss& loss) {
    const auto at = config_at_fault(loss, remaining_.size());
    spdlog::warn("{}: {}: {}", to_string(problem_),
                 at ? to_string(configs_[remaining_[*at]]) : "no config in particular",
                 loss.reason);
    if (!at && remaining_.size() > 1 && !std::exchange(retried_, true)) return;
    const std::size_t first = at.value_or(0);
    const std::size_t end = at ? first + 1 : remaining_.size();
    for (std::size_t i = first; i < end; ++i) {
      results_[remaining_[i]] = {.verdict = verdict_of(loss), .reason = loss.reason};
    }
    remaining_.erase(remaining_.begin() + static_cast<std::ptrdiff_t>(first),
                     remaining_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  Expected<std::vector<RunResult>> finish(std::vector<Reply> replies) {
    machine_.failures_ = 0;
    const auto answers = only<RunReply>(std::move(replies));
    if (!answers) return error_of(answers);
    auto merged = merge(*answers, remaining_.size());
    if (!merged) return machine_.lose(merged.error().message);
    for (std::size_t i = 0; i < remaining_.size(); ++i) {
      results_[remaining_[i]] = std::move((*merged)[i]);
    }
    return std::move(results_);
  }

  CudaMachine& machine_;
  const Problem& problem_;
  std::span<const Config> configs_;
  const RunOptions& options_;
  std::vector<std::size_t> remaining_;  ///< configs that have no result yet
  std::vector<RunResult> results_;
  bool retried_ = false;
};

Expected<std::vector<RunResult>> CudaMachine::run(const Problem& problem,
                                                  std::span<const Config> configs,
                                                  const RunOptions& options) {
  if (!lost_.empty()) return no_machine(lost_);
  if (const auto good = validated(problem); !good) return error_of(good);
  if (const auto good = fits(problem, platform_); !good) {
    return bad_input(fmt::format("{}: {}", to_string(problem), good.error().message));
  }
  return RunLoop(*this, problem, configs, options).run();
}

}  // namespace overlaptune::cuda
