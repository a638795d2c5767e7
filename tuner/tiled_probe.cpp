#include "tuner/tiled_probe.hpp"

#include "core/config_fields.hpp"
#include "core/strategies.hpp"
#include "core/tiling.hpp"

namespace overlaptune {

GemmProbe tiled_probe(const Problem& problem, const Config& config) {
  GemmProbe probe{.m = problem.m,
                  .n = problem.n,
                  .k = problem.k,
                  .elements = problem.elements,
                  .tile = tile_of(config)};
  with_field<config_field::Raster>(config, [&](int raster) { probe.raster = raster; });
  if (traits_of(strategy_of(config)).across_row_blocks) probe.raster *= row_blocks(problem);
  return probe;
}

}  // namespace overlaptune
