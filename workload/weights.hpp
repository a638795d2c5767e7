#pragma once
// Weights of a model, from the sizes of its layers.

#include "workload/model_config.hpp"

namespace overlaptune {

/// Norms, biases and position embeddings are left out: less than a hundredth in models of a
/// billion weights.
struct Weights {
  double all = 0;
  double per_token = 0;  ///< those that a token meets in a pass, once for each loop
};

/// Error: parts that are not counted (`ModelConfig::not_counted`).
[[nodiscard]] Expected<Weights> weights_of(const ModelConfig& config);

}  // namespace overlaptune
