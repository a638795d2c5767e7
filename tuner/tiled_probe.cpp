#include "tuner/tiled_probe.hpp"

#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"
#include "core/config/tiling.hpp"

namespace overlaptune {

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

}  // namespace overlaptune
