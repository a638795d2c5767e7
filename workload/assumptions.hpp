#pragma once
// The assumptions of an answer about a model: what its config.json does not say, or what is counted
// otherwise.

#include <cstdint>
#include <string>
#include <vector>

#include "workload/model_config.hpp"

namespace overlaptune {

struct Assumptions {
  std::vector<std::string> sentences{};
  bool dense = false;  ///< `--assume-dense` passed over fields that speak of the layers
};

[[nodiscard]] Assumptions assumptions_of(const ModelConfig& config);
/// Those of an answer that counts attention over all tokens of sequences of this length.
[[nodiscard]] Assumptions assumptions_of_attention(const ModelConfig& config, std::int64_t tokens);

}  // namespace overlaptune
