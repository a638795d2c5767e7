#include "tuner/layer_probes.hpp"

#include <algorithm>
#include <set>

#include "model/search.hpp"

namespace overlaptune {

std::vector<Probe> layer_probes(const Model& model, std::span<const Problem> problems,
                                Launch launch, int sms, int tiles) {
  constexpr int kAsked = 16;  // configs for each tile: the best ones differ in little else
  std::vector<Probe> probes;
  for (const Problem& problem : problems) {
    const auto scored = search(model, problem, launch,
                               {.best = kAsked * tiles, .strategies = {Strategy::signaled}});
    if (!scored) continue;
    std::set<Tile> seen;
    for (const Scored& each : *scored) {
      const Config& config = each.config;
      if (config.strategy != Strategy::signaled || !seen.insert(config.tile).second) continue;
      const Probe probe = GemmProbe{.m = problem.m,
                                    .n = problem.n,
                                    .k = problem.k,
                                    .dtype = problem.dtype,
                                    .tile = config.tile,
                                    .raster = config.raster * row_blocks(problem),
                                    .sms = sms - config.comm_ctas};
      if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
      if (static_cast<int>(seen.size()) == tiles) break;
    }
  }
  return probes;
}

}  // namespace overlaptune
