#pragma once
// Products that a quantised model leaves in 16 bits, by the names of its modules.

#include <set>
#include <string>
#include <vector>

#include "core/layer_gemm.hpp"
#include "json/reader.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

struct UnquantizedModules {
  std::set<Product> products{};       ///< in all layers
  std::vector<std::string> partly{};  ///< "down (2 of 126 layers)", "qkv (k_proj only)"
  std::vector<std::string> unread{};  ///< entries whose modules are not known here
};

/// `described`: the object `quantization_config`. Its lists of modules that stay as they are
/// (`ignore`, `ignored_layers`, `modules_to_not_convert`, `exclude_modules`), and the `targets` of
/// a group where they are not all linear modules. An entry is read by the words in it:
/// "model.layers.3.mlp.down_proj", "re:.*self_attn.*", "*lm_head*".
[[nodiscard]] UnquantizedModules unquantized_modules(const JsonReader& described,
                                                     const ModelConfig& config);

}  // namespace overlaptune
