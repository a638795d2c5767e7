// The measurement of each kind of probe on the simulated machine.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/gpu.hpp"
#include "machine/simulator/contention.hpp"
#include "machine/simulator/sim_machine.hpp"

namespace overlaptune::sim {
namespace {

constexpr int kRepetitions = 15;

/// The summary of repetitions of a time that varies by `spread`, relative.
Summary repeated(double time, double spread, const Noise& noise) {
  std::vector<Microseconds> samples;
  for (std::uint64_t i = 0; i < kRepetitions; ++i) {
    samples.push_back(us(time * (1 + spread * noise.normal(i))));
  }
  return summarize(samples);
}

/// The relative spread of a collective: it varies with its repetition and by itself.
double collective_spread(const Profile& profile) {
  return profile.noise.collective * std::sqrt(2.0);
}

/// The slowest rank of each repetition; the time beyond `around` is multiplied by `factor`.
Summary slowest_ranks(const Execution& execution, double around = 0, double factor = 1) {
  std::vector<Microseconds> samples;
  for (const Repetition& repetition : execution.repetitions) {
    const auto& times = repetition.rank_times;
    const double slowest = *std::max_element(times.begin(), times.end());
    samples.push_back(us(around + (slowest - around) * factor));
  }
  return summarize(samples);
}

double bytes_of(const GemmProbe& probe) {
  return product_bytes(probe.m, probe.n, probe.k, probe.elements);
}

Expected<GemmKernel> kernel_of(const Profile& profile, const GemmProbe& probe, int sms) {
  // The sizes follow the rules of a problem.
  const auto good = validated({.op = Op::gemm_all_reduce,
                               .m = probe.m,
                               .n = probe.n,
                               .k = probe.k,
                               .elements = probe.elements,
                               .ranks = 2});
  if (!good) return error_of(good);
  if (sms < 1 || sms > profile.gpu.sms) {
    return bad_input(fmt::format("sms = {}: expected 1 to {}", sms, profile.gpu.sms));
  }
  if (probe.tile.is_library())
    return library_kernel(profile, probe.elements, 1, probe.m, probe.n, probe.k, sms);
  if (!is_feasible(probe.tile, gpu_limits(profile.gpu.compute_capability), probe.elements)) {
    return bad_input(fmt::format("tile {} stages={} cluster={}: does not fit {}",
                                 to_string(probe.tile), probe.tile.stages, probe.tile.cluster,
                                 profile.gpu.model));
  }
  return GemmKernel{.order = {.block_rows = probe.m,
                              .n = probe.n,
                              .blocks = 1,
                              .block_m = probe.tile.block_m,
                              .block_n = probe.tile.block_n,
                              .swizzle = std::max(probe.swizzle, 1),
                              .elements = probe.elements},
                    .k = probe.k,
                    .tile = probe.tile,
                    .sms = sms};
}

}  // namespace

Expected<Measurement> SimMachine::measure(const Probe& probe) {
  const Noise noise = Noise(options_.seed).stream("probe").stream(to_string(probe));
  auto measured = std::visit([&](const auto& p) { return measure_probe(p, noise); }, probe);
  if (!measured) {
    return bad_input(fmt::format("probe {}: {}", to_string(probe), measured.error().message));
  }
  measured->probe = probe;
  return measured;
}

Expected<Measurement> SimMachine::measure_probe(const GemmProbe& probe, const Noise& noise) const {
  if (const auto good = check_memory(bytes_of(probe)); !good) return error_of(good);
  const auto kernel = kernel_of(profile_, probe, probe.sms == 0 ? profile_.gpu.sms : probe.sms);
  if (!kernel) return error_of(kernel);
  const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)}};
  const Setting setting{.profile = &profile_,
                        .effects = options_.effects,
                        .ranks = profile_.gpu.count,
                        .repetitions = kRepetitions};
  const Execution execution = execute(setting, schedule, noise);
  Measurement measured{.time = slowest_ranks(execution), .conditions = conditions(execution.clock)};
  if (probe.tile.is_library()) measured.library_tile = kernel->tile;
  return measured;
}

Expected<Measurement> SimMachine::measure_probe(const CollectiveProbe& probe,
                                                const Noise& noise) const {
  if (probe.bytes.count < 1) {
    return bad_input(fmt::format("bytes = {}: expected at least 1", probe.bytes.count));
  }
  if (probe.comm_ctas < 0 || probe.comm_ctas > profile_.gpu.sms) {
    return bad_input(
        fmt::format("comm_ctas = {}: expected 0 to {}", probe.comm_ctas, profile_.gpu.sms));
  }
  const auto bytes = static_cast<double>(probe.bytes.count);
  if (const auto good = check_memory(2 * bytes); !good) return error_of(good);
  const auto run = collective_run(profile_, probe.collective, bytes, probe.ranks, probe.comm_ctas,
                                  probe.transport);
  if (!run) return error_of(run);
  const double around = launch_costs(profile_, options_.effects, Launch::graph).around;
  const double time = around + run->time;
  const ClockState clock =
      clock_state(profile_, options_.effects, {.wire_bytes = run->wire_bytes}, {.time = time});
  return Measurement{.time = repeated(time, collective_spread(profile_), noise),
                     .conditions = conditions(clock)};
}

Expected<Measurement> SimMachine::measure_probe(const ConcurrentProbe& probe,
                                                const Noise& noise) const {
  const int ctas = probe.collective.comm_ctas;
  if (ctas < 1 && probe.gemm.tile.is_library()) {
    return bad_input("comm_ctas = 0: expected beside a GEMM with a tile, one CTA for each");
  }
  const auto bytes = static_cast<double>(probe.collective.bytes.count);
  if (const auto good = check_memory(bytes_of(probe.gemm) + 2 * bytes); !good)
    return error_of(good);
  if (const auto apart = measure_probe(probe.collective, noise); !apart) return error_of(apart);
  auto kernel = kernel_of(profile_, probe.gemm, profile_.gpu.sms - ctas);
  if (!kernel) return error_of(kernel);
  kernel->persistent = ctas > 0;
  const double takes = ctas > 0 ? 0 : share_taken(profile_);
  const auto run = collective_run(profile_, probe.collective.collective, bytes,
                                  probe.collective.ranks, ctas, probe.collective.transport);
  if (!run) return error_of(run);
  const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)}};
  const TileTimes& times = schedule.gemms.front().times;

  // Neither runs alone at any time: both go on at their slowed rates.
  Setting setting{.profile = &profile_,
                  .effects = options_.effects,
                  .ranks = probe.collective.ranks,
                  .repetitions = kRepetitions};
  setting.effects.clock_loss = false;
  const Execution free = execute(setting, schedule, noise);
  const double around = launch_costs(profile_, options_.effects, Launch::graph).around;
  const double slowdown = gemm_slowdown(profile_, options_.effects, *run, times) / (1 - takes);
  const double gemm_time = (slowest_ranks(free).median.count() - around) * slowdown;
  const double collective_time = run->time *
                                     collective_slowdown(profile_, options_.effects, times) *
                                     own_slowdown(profile_, options_.effects, *run, times) +
                                 takes * times.whole;
  // The clock depends on the power of both.
  ClockState clock;
  for (int pass = 0; pass < 4; ++pass) {
    const double time = around + gemm_time / clock.factor;
    const Load work{.flops = times.flops,
                    .wire_bytes = run->wire_bytes * time / collective_time,
                    .loaded_bytes = times.loaded_bytes,
                    .memory_bytes = times.memory_bytes};
    clock = clock_state(profile_, options_.effects, work,
                        {.time = time, .gemm = time, .at = clock.factor});
  }
  const double stretch = slowdown / clock.factor;
  return Measurement{
      .time = slowest_ranks(free, around, stretch),
      .collective_time =
          repeated(around + collective_time, collective_spread(profile_), noise.stream("beside")),
      .conditions = conditions(clock)};
}

Expected<Measurement> SimMachine::measure_probe(const SustainedProbe& probe,
                                                const Noise& noise) const {
  const auto bytes = static_cast<double>(probe.collective.bytes.count);
  if (const auto good = check_memory(bytes_of(probe.gemm) + 2 * bytes); !good)
    return error_of(good);
  if (const auto apart = measure_probe(probe.collective, noise); !apart) return error_of(apart);
  const auto kernel =
      kernel_of(profile_, probe.gemm, probe.gemm.sms == 0 ? profile_.gpu.sms : probe.gemm.sms);
  if (!kernel) return error_of(kernel);
  const auto run =
      collective_run(profile_, probe.collective.collective, bytes, probe.collective.ranks,
                     probe.collective.comm_ctas, probe.collective.transport);
  if (!run) return error_of(run);
  const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)}, .collectives = {{.run = *run}}};
  const Setting setting{.profile = &profile_,
                        .effects = options_.effects,
                        .ranks = probe.collective.ranks,
                        .repetitions = kRepetitions,
                        .settled = true};
  const Execution execution = execute(setting, schedule, noise);
  return Measurement{.time = slowest_ranks(execution), .conditions = conditions(execution.clock)};
}

Expected<Measurement> SimMachine::measure_probe(const CopyProbe& probe, const Noise& noise) const {
  const CopyProfile& copy = profile_.copy;
  if (probe.bytes.count < 1 || probe.ctas < 0 || probe.ctas > profile_.gpu.sms) {
    return bad_input(fmt::format("expected at least 1 byte and 0 to {} CTAs", profile_.gpu.sms));
  }
  const auto bytes = static_cast<double>(probe.bytes.count);
  if (const auto good = check_memory(bytes); !good) return error_of(good);
  const double around = launch_costs(profile_, options_.effects, Launch::graph).around;
  double time = copy.engine_latency + bytes / copy.engine_rate;
  if (probe.ctas > 0) {
    const double of_ctas = bytes / (probe.ctas * copy.store_rate_per_cta);
    const double of_link = bytes / copy.store_rate;
    time = copy.store_latency + std::hypot(of_ctas, of_link);
  }
  return Measurement{.time = repeated(around + time, profile_.noise.collective, noise)};
}

Expected<Measurement> SimMachine::measure_probe(const PeerProbe& probe, const Noise& noise) const {
  const auto is_gpu = [&](int rank) { return rank >= 0 && rank < profile_.gpu.count; };
  if (!is_gpu(probe.from) || !is_gpu(probe.to) || probe.from == probe.to) {
    return bad_input(fmt::format("expected two of the GPUs 0 to {}", profile_.gpu.count - 1));
  }
  // All GPUs of a profile are linked alike.
  return measure_probe(CopyProbe{.bytes = probe.bytes}, noise);
}

Expected<Measurement> SimMachine::measure_probe(const LayerProbe& /*probe*/,
                                                const Noise& /*noise*/) {
  return bad_input(std::string(kLayerProbeElsewhere));
}

Expected<Measurement> SimMachine::measure_probe(const LaunchProbe& probe,
                                                const Noise& noise) const {
  const LaunchCosts graph = launch_costs(profile_, options_.effects, Launch::graph);
  const LaunchCosts eager = launch_costs(profile_, options_.effects, Launch::eager);
  double time = 0;
  switch (probe.cost) {
    case LaunchCost::graph_replay:
      time = graph.around;
      break;
    case LaunchCost::graph_kernel:
      time = graph.kernel;
      break;
    case LaunchCost::eager_submit:
      time = eager.submit;
      break;
    case LaunchCost::eager_first:
      time = eager.first;
      break;
    case LaunchCost::signal_trigger:
    case LaunchCost::driver_trigger:
      time = graph.trigger;
      break;
    case LaunchCost::kernel_trigger:
      time = graph.kernel_trigger;
      break;
    case LaunchCost::reorder_per_mb:
      time = 1e6 / profile_.launch.reorder_rate;
      break;
    case LaunchCost::reorder_on_few_sms_per_mb:
      time = 1e6 / profile_.launch.reorder_rate * reorder_slowed(profile_, kFewSms);
      break;
  }
  return Measurement{.time = repeated(time, profile_.noise.collective, noise)};
}

}  // namespace overlaptune::sim
