#pragma once
// Probes of generated GEMMs at the shapes that are tuned.

#include <functional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace overlaptune {

/// The generated GEMM of a config alone, on all SMs. Probes have one row block, so the probe's
/// swizzle groups have all panels that the config's tiles walk together.
[[nodiscard]] GemmProbe tiled_probe(const Problem& problem, const Config& config);

struct LayerOptions {
  Launch launch = Launch::graph;
  int sms = 0;                          ///< SMs of a GPU
  int tiles = 6;                        ///< tile shapes for each problem
  std::function<bool()> stop = {};      ///< called often; true ends the search with what was found
  std::function<void()> searched = {};  ///< called when the tiles of one more problem are found
};

/// Probes of the GEMM alone with the tiles that the model predicts to be best for each problem as
/// `signaled`, each tile shape once. A search for the fastest of thousands of predictions finds the
/// most optimistic ones, so these are the predictions to check. Each probe once; none where the
/// model knows no generated GEMM.
[[nodiscard]] std::vector<Probe> layer_probes(const Model& model, std::span<const Problem> problems,
                                              const LayerOptions& options);

/// Probes of the `tiles` generated GEMMs that the model predicts to be fastest for each problem on
/// all SMs. Each probe once; none where the model knows no generated GEMM.
[[nodiscard]] std::vector<Probe> best_gemms(const Model& model, const Platform& platform,
                                            std::span<const Problem> problems, int tiles);

}  // namespace overlaptune
