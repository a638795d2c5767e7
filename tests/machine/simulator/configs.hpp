#pragma once
// Configs and runs that several tests need.

#include <vector>

#include "core/config/tiling.hpp"
#include "machine/machine.hpp"

namespace overlaptune::test {

/// `signaled` with a group every `waves` waves on a machine with `sms` SMs.
inline Signaled signaled(const Problem& problem, const Tile& tile, int swizzle, int sms,
                         int comm_ctas, std::size_t waves) {
  Signaled config{.tile = tile, .swizzle = swizzle, .comm_ctas = comm_ctas};
  const auto cuts =
      wave_cuts(tile_order(problem, tile, swizzle), sms - comm_ctas, config.transport.beside_gemm);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if ((i + 1) % waves != 0 && i + 1 != cuts.size()) continue;
    config.wave_groups.push_back(cuts[i].tiles - before);
    before = cuts[i].tiles;
  }
  return config;
}

inline Config chunked(int chunks, int comm_ctas) {
  return Chunked{.comm_ctas = comm_ctas, .chunks = chunks};
}

inline RunResult run(Machine& machine, const Problem& problem, const Config& config,
                     const RunOptions& options = {}) {
  return value_or_throw(machine.run(problem, {&config, 1}, options)).front();
}

/// Median of the slowest rank, in microseconds.
inline double time_us(const RunResult& result) {
  return summarize(slowest_rank(result)).median.count();
}

}  // namespace overlaptune::test
