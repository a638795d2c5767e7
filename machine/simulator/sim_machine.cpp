#include "machine/simulator/sim_machine.hpp"

#include <algorithm>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include "machine/simulator/phases.hpp"
#include "strategies/simulations.hpp"

namespace overlaptune::sim {
namespace {

Platform platform_of(const Profile& profile) {
  return {.machine = "sim",
          .name = profile.name,
          .gpu_model = profile.gpu.model,
          .gpu_count = profile.gpu.count,
          .sms = profile.gpu.sms,
          .compute_capability = profile.gpu.compute_capability,
          .memory = {static_cast<std::int64_t>(profile.gpu.memory_bytes)},
          .driver_version = profile.driver_version,
          .cuda_version = profile.cuda_version,
          .nccl_version = profile.nccl_version,
          .topology = profile.topology,
          .link = profile.link,
          .multicast_allowed = false,
          .details = "profile " + profile.digest};
}

/// Bytes of the operands, the output, and the staged or gathered buffer of the collective.
double buffer_bytes(const Problem& problem) {
  const std::int64_t rows = traits_of(problem.op).exchanges_first ? rows_of_a(problem) : problem.m;
  return product_bytes(problem.m, problem.n, problem.k, problem.elements) +
         static_cast<double>(rows) * static_cast<double>(exchanged_columns(problem)) *
             static_cast<double>(bytes_of(exchanged_dtype(problem)));
}

Capabilities capabilities_of(const Profile& profile, const Platform& platform) {
  Capabilities capabilities = overlaptune::capabilities_of(platform);
  capabilities.transports = {Transport::ring};
  for (const CollectiveProfile& entry : profile.collectives) {
    capabilities.transports.insert(entry.transport);
  }
  return capabilities;
}

/// The repetition whose slowest rank is the median.
const Repetition& median_repetition(const std::vector<Repetition>& repetitions) {
  std::vector<std::size_t> order(repetitions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return repetitions[a].slowest() < repetitions[b].slowest();
  });
  return repetitions[*middle];
}

std::vector<std::vector<Microseconds>> by_rank(const std::vector<Repetition>& repetitions,
                                               int ranks, double factor) {
  std::vector<std::vector<Microseconds>> times(static_cast<std::size_t>(ranks));
  for (const Repetition& repetition : repetitions) {
    for (std::size_t r = 0; r < times.size(); ++r) {
      times[r].push_back(us(repetition.rank_times[r] * factor));
    }
  }
  return times;
}

}  // namespace

SimMachine::SimMachine(Profile profile, const SimOptions& options)
    : profile_(std::move(profile)),
      options_(options),
      platform_(platform_of(profile_)),
      capabilities_(capabilities_of(profile_, platform_)) {}

Expected<void> SimMachine::check_memory(double bytes) const {
  if (bytes <= profile_.gpu.memory_bytes) return {};
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  return bad_input(fmt::format("needs {:.1f} GiB on each GPU, {} has {:.1f} GiB", bytes / kGib,
                               profile_.gpu.model, profile_.gpu.memory_bytes / kGib));
}

Conditions SimMachine::conditions(const ClockState& state) const {
  return {.sm_clock_mhz = profile_.gpu.clock_mhz * state.mean, .power_w = state.power_w};
}

Setting SimMachine::setting(const Problem& problem, const RunOptions& options) const {
  Setting setting{.profile = &profile_,
                  .launch = options.launch,
                  .ranks = problem.ranks,
                  .repetitions = std::max(options.repetitions, 1),
                  .settled = options.phase != RunPhase::cold};
  // After a pause, nothing before the run counts for the power limit.
  if (options.phase == RunPhase::cold) return setting;
  const auto baseline = schedule_of(profile_, problem, Config{});
  if (baseline) {
    // The name of the stream is part of the seed: with another name the noise would be another.
    const Noise noise = Noise(options_.seed).stream(to_string(problem)).stream("company");
    setting.background = background_of(setting, *baseline, noise);
  }
  return setting;
}

Expected<Schedule> SimMachine::schedule_of(const Profile& profile, const Problem& problem,
                                           const Config& config) const {
  const auto work = Work::make(problem, config, capabilities_);
  if (!work) return error_of(work);
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) {
    return SimulationOf<Own>::schedule(profile, *work);
  };
  return std::visit(by_strategy, work->config());
}

RunResult SimMachine::run_config(const Problem& problem, const Config& config, Setting setting,
                                 const RunOptions& options) const {
  RunResult result;
  const Profile profile = in_phase(profile_, options.phase, config);
  setting.profile = &profile;
  const auto schedule = schedule_of(profile, problem, config);
  if (!schedule) {
    result.verdict = Verdict::unsupported;
    result.reason = schedule.error().message;
    return result;
  }
  const Noise noise = Noise(options_.seed).stream(to_string(problem)).stream(to_string(config));
  result.verdict = options_.faults.verdict(config, noise);
  result.reason = fault_reason(result.verdict, problem.ranks);
  if (result.verdict != Verdict::valid && result.verdict != Verdict::wrong) return result;

  Noise own = noise.stream(to_string(setting.launch));
  if (options.phase != RunPhase::steady) own = own.stream(to_string(options.phase));
  const Execution execution = execute(setting, *schedule, own);
  // A wrong config is fast, because it skips work.
  const double factor = (result.verdict == Verdict::wrong ? 0.8 : 1) *
                        options_.faults.slowdown(config, options.phase, noise);
  result.rank_times = by_rank(execution.repetitions, problem.ranks, factor);
  if (options.timeline) result.timeline = median_repetition(execution.repetitions).timeline;
  result.conditions = conditions(execution.clock);
  return result;
}

Expected<std::vector<RunResult>> SimMachine::run(const Problem& problem,
                                                 std::span<const Config> configs,
                                                 const RunOptions& options) {
  if (const auto good = validated(problem); !good) return error_of(good);
  if (problem.ranks > profile_.gpu.count) {
    return bad_input(fmt::format("{}: ranks = {}: {} has {} GPUs", to_string(problem),
                                 problem.ranks, profile_.name, profile_.gpu.count));
  }
  if (const auto good = check_memory(buffer_bytes(problem)); !good) {
    return bad_input(to_string(problem) + ": " + good.error().message);
  }
  std::vector<RunResult> results;
  results.reserve(configs.size());
  const Setting setting = this->setting(problem, options);
  for (const Config& config : configs) {
    results.push_back(run_config(problem, config, setting, options));
  }
  return results;
}

}  // namespace overlaptune::sim
