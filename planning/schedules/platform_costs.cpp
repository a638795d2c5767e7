#include "planning/schedules/platform_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/memory_rate.hpp"
#include "model/parts.hpp"
#include "model/search.hpp"
#include "planning/schedules/doubts.hpp"

namespace overlaptune {
namespace {

constexpr double kBytesOfGb = 1e3;      // bytes per microsecond
constexpr double kFlopsOfTflops = 1e6;  // operations per microsecond
constexpr std::int64_t kLargeGemm = 8192;
// Attention does not reach the rate of a large GEMM. FlashAttention-2 (Dao 2023) reports 50 to 73 %
// of an A100's peak, where GEMMs reach 80 to 90 %: about 0.7 of them.
constexpr double kAttentionOfGemm = 0.7;
// Kernels that only read and write reach about nine tenths of the data sheet's rate (BabelStream,
// Deakin et al. 2018).
constexpr double kReachedOfMemory = 0.9;

}  // namespace

PlatformCosts::PlatformCosts(StepGrounds grounds, const ModelConfig& config,
                             const KnownRates& known)
    : grounds_(std::move(grounds)),
      layer_times_(grounds_.measurements),
      elements_(elements_of_layer(config)),
      depth_(config.hidden),
      known_(known) {
  const LaunchModel& launch = parts().launch;
  std::string how = "the probed rate of copies in memory";
  memory_source_ = "memory rate probed";
  if (known.memory_gb_per_s) {
    bytes_per_us_ = *known.memory_gb_per_s * kBytesOfGb;
    memory_source_ = "memory rate given";
    how = "as given";
  } else if (const auto sheet = data_sheet_memory_gb_per_s(grounds_.platform.gpu_model)) {
    bytes_per_us_ = kReachedOfMemory * *sheet * kBytesOfGb;
    memory_source_ = "memory rate of the data sheet";
    how = fmt::format("{} of the data sheet's", kReachedOfMemory);
  } else if (launch.reorder_per_byte > 0) {
    bytes_per_us_ = 2 / launch.reorder_per_byte;  // a copied byte is read and written
  } else {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: copies in memory were never probed: expected --memory-gb-per-s",
                              full_name(grounds_.platform)));
  }
  if (known.attention_tflops) {
    attention_flops_per_us_ = *known.attention_tflops * kFlopsOfTflops;
  } else {
    // Attention calculates in 16 bits, whatever the weights have.
    const Probe large = GemmProbe{
        .m = kLargeGemm, .n = kLargeGemm, .k = kLargeGemm, .elements = config.plain_elements};
    const Measurement* const found = measured(large);
    const auto time = found != nullptr ? Expected<Microseconds>(found->time.median)
                                       : grounds_.model.analytic().predict(large);
    if (!time && is_quantised(elements_)) {
      throw Failure(time.error().kind, fmt::format("{}, for attention; or give --attention-tflops",
                                                   time.error().message));
    }
    const double us = value_or_throw(time).count();
    attention_flops_per_us_ = kAttentionOfGemm * 2 * std::pow(kLargeGemm, 3) / us;
  }
  const std::string in_plain =
      is_quantised(elements_) ? fmt::format(" in {}", to_string(config.plain_elements)) : "";
  sources_ = {
      "GEMMs and collectives: measured where a probe has the size, else predicted from the probes",
      fmt::format("norms, rope, activations, {}optimiser: bytes at {:.0f} GB/s, {}",
                  is_quantised(elements_) ? "quantising, " : "", bytes_per_us_ / kBytesOfGb, how),
      fmt::format("attention: operations at {:.0f} TFLOP/s, {}",
                  attention_flops_per_us_ / kFlopsOfTflops,
                  known.attention_tflops ? "as given"
                                         : fmt::format("{} of the rate of a GEMM of {}{}",
                                                       kAttentionOfGemm, kLargeGemm, in_plain))};
  const std::string works = names_of<LayerWork>([&](LayerWork work) { return is_used(work); });
  if (!works.empty()) {
    sources_.push_back(
        fmt::format("{}: stored times of captured graphs come before these rates", works));
  }
  if (known.data_parallel_gb_per_s) {
    sources_.push_back(fmt::format("gradients and parameters: bytes at {:.1f} GB/s, as given",
                                   *known.data_parallel_gb_per_s));
  }
}

/// Whether a flag says the rate of an operation that is no collective.
bool PlatformCosts::is_given(LayerWork work) const {
  return work == LayerWork::attention ? known_.attention_tflops.has_value()
                                      : known_.memory_gb_per_s.has_value();
}

bool PlatformCosts::is_used(LayerWork work) const {
  return layer_times_.has(work) && (is_collective(work) || !is_given(work));
}

bool PlatformCosts::are_known() const {
  constexpr std::array kWorks{LayerWork::norm, LayerWork::rope, LayerWork::activation,
                              LayerWork::attention};
  const auto is_known = [&](LayerWork work) { return layer_times_.has(work) || is_given(work); };
  return std::ranges::all_of(kWorks, is_known) &&
         (!is_quantised(elements_) || is_known(LayerWork::quantise));
}

std::optional<Cost> PlatformCosts::stored(const LayerProbe& probe) const {
  if (!is_used(probe.work)) return std::nullopt;
  const bool attends = probe.work == LayerWork::attention;
  auto cost = layer_times_.time(probe, attends ? kDoubtOfAttention : kDoubtOfMemory,
                                1 / (attends ? attention_flops_per_us_ : bytes_per_us_));
  if (cost) cost->us = std::max(cost->us, parts().launch.kernel_gap);
  return cost;
}

StepClocks PlatformCosts::clocks(const ModelConfig& config, const StepShape& shape) const {
  return step_clocks(value_or_throw(layer_operations(config, shape, costs({}))),
                     [&](const Load& load) { return parts().clock.slowdown(load); });
}

StepCosts PlatformCosts::costs(const StepClocks& clocks) const {
  const double apart = clocks.apart;
  const double overlapped = std::max(apart, clocks.overlapped);
  return {
      .gemm =
          [this, apart, overlapped](const GemmSize& size, Elements elements) {
            auto cost = gemm(size, elements, apart);
            const auto beside_fused = gemm(size, elements, overlapped);
            if (cost && beside_fused) cost->beside_fused = beside_fused->us / cost->us;
            return cost;
          },
      .tensor_parallel = [this](auto op, auto bytes,
                                auto ranks) { return in_layer(op, bytes, ranks); },
      .data_parallel = [this](auto op, auto bytes,
                              auto ranks) { return across_replicas(op, bytes, ranks); },
      .fused = [this, overlapped](const Problem& problem) { return fused(problem, overlapped); },
      .stored = [this](const LayerProbe& probe) { return stored(probe); },
      .bytes_per_us = bytes_per_us_,
      .memory_source = memory_source_,
      .memory_doubt = known_.memory_gb_per_s ? Doubt{} : kDoubtOfMemory,
      .attention_flops_per_us = attention_flops_per_us_,
      .attention_source = known_.attention_tflops ? "tensor rate given" : "tensor rate probed",
      .attention_doubt = known_.attention_tflops ? Doubt{} : kDoubtOfAttention,
      .attention_beside_fused = known_.attention_tflops ? 1 : overlapped / apart,
      .launch_us = parts().launch.kernel_gap};
}

/// The latest measurement of a probe; null: there is none.
const Measurement* PlatformCosts::measured(const Probe& probe) const {
  const auto known = std::find_if(grounds_.measurements.rbegin(), grounds_.measurements.rend(),
                                  [&](const Measurement& each) { return each.probe == probe; });
  return known == grounds_.measurements.rend() ? nullptr : &*known;
}

/// The cost of a kernel among others in a graph, from its time without the replay: with the gap
/// before it.
Cost PlatformCosts::among_others(double us, std::string source, const Doubt& doubt) const {
  const double gap = parts().launch.kernel_gap;
  return {std::max(us + gap, gap), std::move(source), doubt};
}

/// A GEMM at a clock that slows it by `slowdown`. What a probe measured is brought to the full
/// clock first, by the clock that was recorded with it.
Expected<Cost> PlatformCosts::gemm(const GemmSize& size, Elements elements, double slowdown) const {
  const auto& [m, n, k] = size;
  const GemmProbe probe{.m = m, .n = n, .k = k, .elements = elements};
  if (const Measurement* const known = measured(probe)) {
    const double time = known->time.median.count() - parts().launch.replay;
    // Without a recorded clock the time stays what it was.
    const double factor =
        known->conditions.sm_clock_mhz ? slowdown / parts().clock.recorded(known->conditions) : 1;
    return among_others(time * factor, "measured", kDoubtOfGemm);
  }
  const auto gemms = parts().gemms_of(elements);
  if (!gemms) return error_of(gemms);
  return among_others((*gemms)->library.time(m, n, k, grounds_.platform.sms) * slowdown,
                      "predicted", kDoubtOfGemm);
}

Expected<Cost> PlatformCosts::collective(Collective op, double bytes, int ranks) const {
  const CollectiveProbe probe{
      .collective = op, .bytes = Bytes{std::llround(bytes)}, .ranks = ranks};
  const Measurement* const known = measured(probe);
  const auto time = known != nullptr ? Expected<Microseconds>(known->time.median)
                                     : grounds_.model.analytic().predict(probe);
  if (!time) {
    return bad_input(fmt::format(
        "{}: {} of {} ranks: never probed: expected `overlaptune probe --ranks {}` into this "
        "database",
        full_name(grounds_.platform), to_string(op), ranks, ranks));
  }
  Cost cost = among_others(time->count() - parts().launch.replay,
                           known != nullptr ? "measured" : "predicted", kDoubtOfCollective);
  const auto gemms = parts().gemms_of(elements_);
  if (!gemms) return error_of(gemms);
  // Beside a GEMM the collective has a few SMs of its own: as many as lose least on both sides.
  double least = 0;
  for (const CollectiveKey& key : parts().collectives.overlap_settings(op, ranks)) {
    const Slowdown slowdown = (*gemms)->contention(key, bytes, depth_, GemmFamily::library);
    const double us = (*parts().collectives.find(key))(bytes)*slowdown.collective;
    const double slows =
        slowdown.gemm * grounds_.platform.sms / (grounds_.platform.sms - key.comm_ctas);
    const double lost = us * (1 - 1 / slows) + us - cost.us;
    if (least != 0 && lost >= least) continue;
    least = lost;
    cost.slows = std::max(slows, 1.0);
    cost.slowed = std::max(us / cost.us, 1.0);
  }
  return cost;
}

/// A collective of a layer. Stored times of captured graphs count between the sizes that were
/// measured there: beyond them the probed curve says more.
Expected<Cost> PlatformCosts::in_layer(Collective op, double bytes, int ranks) const {
  auto cost = collective(op, bytes, ranks);
  const auto work = parse_name<LayerWork>(to_string(op));
  if (!cost || !work) return cost;
  const auto stored = layer_times_.time({*work, std::llround(bytes), ranks}, {}, 0);
  if (!stored || stored->source == kLayerExtrapolated) return cost;
  cost->us = stored->us;
  cost->source = stored->source;
  cost->doubt = stored->doubt;
  return cost;
}

Expected<Cost> PlatformCosts::across_replicas(Collective op, double bytes, int ranks) const {
  if (known_.data_parallel_gb_per_s) {
    const double rate = *known_.data_parallel_gb_per_s * kBytesOfGb;
    return Cost{.us = bytes * (ranks - 1) / ranks / rate, .source = "link rate given"};
  }
  auto cost = collective(op, bytes, ranks);
  if (cost) return cost;
  return bad_input(
      fmt::format("--dp {}: {} of {} ranks was never probed on {}: expected "
                  "--data-parallel-gb-per-s, or `overlaptune probe --ranks {}` into this database",
                  ranks, to_string(op), ranks, full_name(grounds_.platform), ranks));
}

/// The least time of `sequential` among a graph's other kernels: a GEMM, and the fastest collective
/// that the platform has for it, which may be another one than NCCL's ring. Error: as `collective`.
Expected<double> PlatformCosts::sequential(const Problem& problem, const Cost& product) const {
  const auto ring = collective(collective_of(problem.op),
                               static_cast<double>(collective_bytes(problem).count), problem.ranks);
  if (!ring) return error_of(ring);
  const auto fastest = search(grounds_.model.analytic(), problem, Launch::graph,
                              {.best = 1, .strategies = {kBaseline}});
  if (!fastest) return error_of(fastest);
  const auto made =
      grounds_.model.analytic().predict(problem, fastest->front().config, Launch::graph);
  if (!made) return error_of(made);
  const double by_other = made->collective_alone.count() + parts().launch.kernel_gap;
  return product.us + std::min(ring->us, by_other);
}

/// Winners were measured in turn with `sequential`, at the clock of those rounds, and predictions
/// are of the same rounds; a step has another clock. Times of two clocks are not subtracted from
/// each other: the ratio to `sequential` of the same rounds carries over.
///
///     fused here = fused of the rounds * (sequential here / sequential of the rounds)
std::optional<Cost> PlatformCosts::fused(const Problem& problem, double slowdown) const {
  const auto valid = validated(problem);
  if (!valid) return std::nullopt;
  const Answer answer = grounds_.ask(*valid);
  if (answer.source == Source::baseline) return std::nullopt;
  // The tasks are this config, one after the other. By another transport, `sequential` may be
  // faster.
  if (answer.config == Config{}) return std::nullopt;
  const auto time = answer.source == Source::exact ? answer.measured : answer.predicted;
  const auto alone = gemm({valid->m, valid->n, valid->k}, valid->elements, slowdown);
  if (!time || !answer.baseline || !alone) return std::nullopt;
  const auto apart = sequential(*valid, *alone);
  if (!apart) return std::nullopt;
  const LaunchModel& launch = parts().launch;
  const auto of_rounds = [&](Microseconds us) {
    return among_others(us.count() - launch.replay, "", {}).us;
  };
  const double us = of_rounds(*time) * *apart / of_rounds(*answer.baseline);
  // No overlap hides more than the collective. Medians of noisy rounds may say so. The operation is
  // as far off as its parts.
  const double part = alone->us / *apart;
  const auto mixed = [part](double gemm, double links) { return part * gemm + (1 - part) * links; };
  return Cost{.us = std::max(us, alone->us),
              .source = answer.source == Source::exact ? "measured" : "predicted",
              .doubt = {.low = mixed(kDoubtOfGemm.low, kDoubtOfCollective.low),
                        .high = mixed(kDoubtOfGemm.high, kDoubtOfCollective.high)},
              .extra_loads = extra_loads(tile_of(answer.config))};
}

}  // namespace overlaptune
