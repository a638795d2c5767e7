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
    samples.push_back(us(around + (repetition.slowest() - around) * factor));
  }
  return summarize(samples);
}

double bytes_of(const GemmProbe& probe) {
  return product_bytes(probe.m, probe.n, probe.k, probe.elements);
}

Expected<GemmKernel> kernel_of(const Profile& profile, const GemmProbe& probe, int sms) {
  // The sizes follow the rules of a problem.
  const auto problem = validated({.op = Op::gemm_all_reduce,
                                  .m = probe.m,
                                  .n = probe.n,
                                  .k = probe.k,
                                  .elements = probe.elements,
                                  .ranks = 2});
  if (!problem) return error_of(problem);
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
  return GemmKernel{.order = tile_order(*problem, probe.tile, probe.swizzle),
                    .k = probe.k,
                    .tile = probe.tile,
                    .sms = sms};
}

double launch_time(const Profile& profile, LaunchCost cost) {
  const LaunchCosts graph = launch_costs(profile, Launch::graph);
  const LaunchCosts eager = launch_costs(profile, Launch::eager);
  switch (cost) {
    case LaunchCost::graph_replay:
      return graph.around;
    case LaunchCost::graph_kernel:
      return graph.kernel;
    case LaunchCost::eager_submit:
      return eager.submit;
    case LaunchCost::eager_first:
      return eager.first;
    case LaunchCost::signal_trigger:
    case LaunchCost::driver_trigger:
      return graph.trigger;
    case LaunchCost::kernel_trigger:
      return graph.kernel_trigger;
    case LaunchCost::reorder_per_mb:
      return 1e6 / profile.launch.reorder_rate;
    case LaunchCost::reorder_on_few_sms_per_mb:
      return 1e6 / profile.launch.reorder_rate * reorder_slowed(profile, kFewSms);
  }
  return 0;
}

}  // namespace

/// Measures a probe of each kind.
class SimMachine::Prober {
 public:
  Prober(const SimMachine& machine, const Noise& noise)
      : machine_(machine),
        profile_(machine.profile_),
        around_(launch_costs(profile_, Launch::graph).around),
        noise_(noise) {}

  Expected<Measurement> operator()(const GemmProbe& probe) const {
    if (const auto good = machine_.check_memory(bytes_of(probe)); !good) return error_of(good);
    const auto kernel = kernel_of(profile_, probe, probe.sms == 0 ? profile_.gpu.sms : probe.sms);
    if (!kernel) return error_of(kernel);
    const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)}};
    Measurement measured = measured_by(execute(setting(profile_.gpu.count), schedule, noise_));
    if (probe.tile.is_library()) measured.library_tile = kernel->tile;
    return measured;
  }

  Expected<Measurement> operator()(const CollectiveProbe& probe) const {
    const auto run = run_of(probe);
    if (!run) return error_of(run);
    const double time = around_ + run->time;
    const ClockState clock = clock_state(profile_, {.wire_bytes = run->wire_bytes}, {.time = time});
    return Measurement{.time = repeated(time, collective_spread(profile_), noise_),
                       .conditions = machine_.conditions(clock)};
  }

  Expected<Measurement> operator()(const ConcurrentProbe& probe) const {
    const int ctas = probe.collective.comm_ctas;
    if (ctas < 1 && probe.gemm.tile.is_library()) {
      return bad_input("comm_ctas = 0: expected beside a GEMM with a tile, one CTA for each");
    }
    const auto run = run_beside(probe.gemm, probe.collective);
    if (!run) return error_of(run);
    auto kernel = kernel_of(profile_, probe.gemm, profile_.gpu.sms - ctas);
    if (!kernel) return error_of(kernel);
    kernel->persistent = ctas > 0;
    const double takes = ctas > 0 ? 0 : share_taken(profile_);
    const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)}};
    const TileTimes& times = schedule.gemms.front().times;

    // Neither runs alone at any time: both go on at their slowed rates.
    Setting free_setting = setting(probe.collective.ranks);
    free_setting.at_highest_clock = true;
    const Execution free = execute(free_setting, schedule, noise_);
    const double slowdown = gemm_slowdown(profile_, *run, times) / (1 - takes);
    const double gemm_time = (slowest_ranks(free).median.count() - around_) * slowdown;
    const double collective_time =
        run->time * collective_slowdown(profile_, times) * own_slowdown(profile_, *run, times) +
        takes * times.whole;
    // The clock depends on the power of both.
    ClockState clock;
    for (int pass = 0; pass < 4; ++pass) {
      const double time = around_ + gemm_time / clock.factor;
      const Load work{.flops = times.flops,
                      .wire_bytes = run->wire_bytes * time / collective_time,
                      .loaded_bytes = times.loaded_bytes,
                      .memory_bytes = times.memory_bytes};
      clock = clock_state(profile_, work, {.time = time, .gemm = time, .at = clock.factor});
    }
    return Measurement{
        .time = slowest_ranks(free, around_, slowdown / clock.factor),
        .collective_time = repeated(around_ + collective_time, collective_spread(profile_),
                                    noise_.stream("beside")),
        .conditions = machine_.conditions(clock)};
  }

  Expected<Measurement> operator()(const SustainedProbe& probe) const {
    const auto run = run_beside(probe.gemm, probe.collective);
    if (!run) return error_of(run);
    const auto kernel =
        kernel_of(profile_, probe.gemm, probe.gemm.sms == 0 ? profile_.gpu.sms : probe.gemm.sms);
    if (!kernel) return error_of(kernel);
    const Schedule schedule{.gemms = {plan_gemm(profile_, *kernel)},
                            .collectives = {{.run = *run}}};
    Setting settled = setting(probe.collective.ranks);
    settled.settled = true;
    return measured_by(execute(settled, schedule, noise_));
  }

  Expected<Measurement> operator()(const CopyProbe& probe) const {
    const CopyProfile& copy = profile_.copy;
    if (probe.bytes.count < 1 || probe.ctas < 0 || probe.ctas > profile_.gpu.sms) {
      return bad_input(fmt::format("expected at least 1 byte and 0 to {} CTAs", profile_.gpu.sms));
    }
    const auto bytes = static_cast<double>(probe.bytes.count);
    if (const auto good = machine_.check_memory(bytes); !good) return error_of(good);
    double time = copy.engine_latency + bytes / copy.engine_rate;
    if (probe.ctas > 0) {
      const double of_ctas = bytes / (probe.ctas * copy.store_rate_per_cta);
      const double of_link = bytes / copy.store_rate;
      time = copy.store_latency + std::hypot(of_ctas, of_link);
    }
    return Measurement{.time = repeated(around_ + time, profile_.noise.collective, noise_)};
  }

  Expected<Measurement> operator()(const PeerProbe& probe) const {
    const auto is_gpu = [&](int rank) { return rank >= 0 && rank < profile_.gpu.count; };
    if (!is_gpu(probe.from) || !is_gpu(probe.to) || probe.from == probe.to) {
      return bad_input(fmt::format("expected two of the GPUs 0 to {}", profile_.gpu.count - 1));
    }
    // All GPUs of a profile are linked alike.
    return (*this)(CopyProbe{.bytes = probe.bytes});
  }

  Expected<Measurement> operator()(const LayerProbe& /*probe*/) const {
    return bad_input(std::string(kLayerProbeElsewhere));
  }

  Expected<Measurement> operator()(const LaunchProbe& probe) const {
    const double time = launch_time(profile_, probe.cost);
    return Measurement{.time = repeated(time, profile_.noise.collective, noise_)};
  }

 private:
  [[nodiscard]] Setting setting(int ranks) const {
    return {.profile = &profile_, .ranks = ranks, .repetitions = kRepetitions};
  }

  [[nodiscard]] Measurement measured_by(const Execution& execution) const {
    return {.time = slowest_ranks(execution), .conditions = machine_.conditions(execution.clock)};
  }

  [[nodiscard]] Expected<CollectiveRun> run_of(const CollectiveProbe& probe) const {
    if (probe.bytes.count < 1) {
      return bad_input(fmt::format("bytes = {}: expected at least 1", probe.bytes.count));
    }
    if (probe.comm_ctas < 0 || probe.comm_ctas > profile_.gpu.sms) {
      return bad_input(
          fmt::format("comm_ctas = {}: expected 0 to {}", probe.comm_ctas, profile_.gpu.sms));
    }
    const auto bytes = static_cast<double>(probe.bytes.count);
    if (const auto good = machine_.check_memory(2 * bytes); !good) return error_of(good);
    return collective_run(profile_, probe.collective, bytes, probe.ranks, probe.comm_ctas,
                          probe.transport);
  }

  /// The collective of a probe that has a GEMM too.
  [[nodiscard]] Expected<CollectiveRun> run_beside(const GemmProbe& gemm,
                                                   const CollectiveProbe& collective) const {
    const auto bytes = static_cast<double>(collective.bytes.count);
    const auto good = machine_.check_memory(bytes_of(gemm) + 2 * bytes);
    return good ? run_of(collective) : error_of(good);
  }

  const SimMachine& machine_;
  const Profile& profile_;
  double around_;  ///< a graph's launch
  const Noise& noise_;
};

Expected<Measurement> SimMachine::measure(const Probe& probe) {
  const Noise noise = Noise(options_.seed).stream("probe").stream(to_string(probe));
  auto measured = std::visit(Prober(*this, noise), probe);
  if (!measured) {
    return bad_input(fmt::format("probe {}: {}", to_string(probe), measured.error().message));
  }
  measured->probe = probe;
  return measured;
}

}  // namespace overlaptune::sim
