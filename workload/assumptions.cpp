#include "workload/assumptions.hpp"

#include <fmt/format.h>

namespace overlaptune {

Assumptions assumptions_of(const ModelConfig& config) {
  return {.sentences = config.assumptions, .dense = config.assumed_dense};
}

Assumptions assumptions_of_attention(const ModelConfig& config, std::int64_t tokens) {
  Assumptions made = assumptions_of(config);
  if (!config.causal) {
    made.sentences.emplace_back(
        "attention has no causal mask: it is counted over all tokens for each one");
  }
  if (config.window > 0 && config.window < tokens) {
    made.sentences.push_back(fmt::format(
        "attention is counted over all tokens{}, though a window of {} tokens cuts it off: layers "
        "with the window take less",
        config.causal ? " before each one" : "", config.window));
  }
  return made;
}

}  // namespace overlaptune
