#include "tuner/layer_probes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/config/comm_ctas.hpp"
#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"
#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "model/search.hpp"

namespace overlaptune {
namespace {

/// The generated GEMM of a config alone, on the SMs that it has beside collectives. `sms`: all SMs.
GemmProbe probe_of(const Problem& problem, const Config& config, int sms) {
  GemmProbe probe = tiled_probe(problem, config);
  const int ctas = comm_ctas(config);
  if (traits_of(strategy_of(config)).collective_per_group && ctas != kHandedOver) {
    probe.sms = sms - ctas;
  }
  return probe;
}

/// The strategies with a generated GEMM.
std::vector<Strategy> generated_strategies() {
  std::vector<Strategy> list;
  for (const StrategyTraits& traits : kStrategies) {
    if (traits.gemm == GemmFamily::generated) list.push_back(traits.strategy);
  }
  return list;
}

}  // namespace

GemmProbe tiled_probe(const Problem& problem, const Config& config) {
  GemmProbe probe{.m = problem.m,
                  .n = problem.n,
                  .k = problem.k,
                  .elements = problem.elements,
                  .tile = tile_of(config)};
  with_field<config_field::Swizzle>(config, [&](int swizzle) { probe.swizzle = swizzle; });
  if (traits_of(strategy_of(config)).across_row_blocks) probe.swizzle *= row_blocks(problem);
  return probe;
}

std::vector<Probe> layer_probes(const Model& model, std::span<const Problem> problems,
                                const LayerOptions& options) {
  constexpr int kAsked = 24;  // configs for each tile: the best differ in little else
  std::vector<Probe> probes;
  for (const Problem& problem : problems) {
    const auto scored = search(model, problem, options.launch,
                               {.best = kAsked * options.tiles,
                                .strategies = generated_strategies(),
                                .stop = options.stop});
    if (options.stop && options.stop()) return probes;
    if (options.searched) options.searched();
    if (!scored) continue;
    std::set<std::pair<int, int>> seen;
    for (const Scored& each : *scored) {
      const Tile tile = tile_of(each.config);
      if (tile.is_library()) continue;
      if (!seen.insert({tile.block_m, tile.block_n}).second) continue;
      const Probe probe = probe_of(problem, each.config, options.sms);
      if (std::ranges::find(probes, probe) == probes.end()) probes.push_back(probe);
      if (static_cast<int>(seen.size()) == options.tiles) break;
    }
  }
  return probes;
}

std::vector<Probe> best_gemms(const Model& model, const Platform& platform,
                              std::span<const Problem> problems, int tiles) {
  std::vector<Probe> probes;
  for (const Problem& problem : problems) {
    std::vector<std::pair<Microseconds, Probe>> timed;
    for (const Tile& tile : promising_tiles(gpu_limits(platform.compute_capability), problem)) {
      std::optional<std::pair<Microseconds, Probe>> best;
      for (const int swizzle : {2, 4, 8, 16}) {
        const Probe probe = GemmProbe{.m = problem.m,
                                      .n = problem.n,
                                      .k = problem.k,
                                      .elements = problem.elements,
                                      .tile = tile,
                                      .swizzle = swizzle};
        const auto time = model.predict(probe);
        if (time && (!best || *time < best->first)) best = {*time, probe};
      }
      if (best) timed.push_back(*best);
    }
    const auto wanted = std::min<std::ptrdiff_t>(std::ssize(timed), tiles);
    std::partial_sort(timed.begin(), timed.begin() + wanted, timed.end(),
                      [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto each = timed.begin(); each != timed.begin() + wanted; ++each) {
      if (std::ranges::find(probes, each->second) == probes.end()) {
        probes.push_back(each->second);
      }
    }
  }
  return probes;
}

}  // namespace overlaptune
