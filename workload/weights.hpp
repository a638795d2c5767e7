#pragma once
// Weights of a model, from the sizes of its layers.

#include <cstdint>

#include "workload/model_config.hpp"

namespace overlaptune {

/// a * b, which may be more than whole numbers hold.
[[nodiscard]] constexpr double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

/// Norms, biases and position embeddings are left out: less than a hundredth in models of a
/// billion weights.
struct Weights {
  double all = 0;
  double per_token = 0;  ///< those that a token meets in a pass, once for each loop
};

/// Error: parts that are not counted (`ModelConfig::not_counted`).
[[nodiscard]] Expected<Weights> weights_of(const ModelConfig& config);

}  // namespace overlaptune
