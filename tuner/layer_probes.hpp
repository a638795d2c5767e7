#pragma once
// Probes of our GEMMs at the very shapes that are tuned.

#include <functional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace overlaptune {

struct LayerOptions {
  Launch launch = Launch::graph;
  int sms = 0;                      ///< of a GPU
  int tiles = 6;                    ///< shapes of tiles a problem
  std::function<bool()> stop = {};  ///< asked often; true ends it with what there is
};

/// The tiles, each shape once, that the model thinks best for each problem as `signaled`, as GEMMs
/// alone. A search that picks the fastest of thousands of predictions picks the most optimistic
/// ones: these are what is worth knowing better. Each probe once; none where the model knows no
/// tiled GEMM.
[[nodiscard]] std::vector<Probe> layer_probes(const Model& model, std::span<const Problem> problems,
                                              const LayerOptions& options);

/// The `tiles` fastest of our GEMMs for each problem by the model, on all SMs. Each probe once;
/// none where the model knows no tiled GEMM.
[[nodiscard]] std::vector<Probe> best_gemms(const Model& model, const Platform& platform,
                                            std::span<const Problem> problems, int tiles);

}  // namespace overlaptune
