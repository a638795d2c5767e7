#pragma once
// Products that a quantised model leaves in 16 bits, by the names of its modules.

#include <set>
#include <string>
#include <vector>

#include "core/layer_gemm.hpp"
#include "json/reader.hpp"
#include "workload/config_layers.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

struct UnquantizedModules {
  std::set<Product> products{};       ///< in all layers
  std::vector<std::string> partly{};  ///< "down (2 of 126 layers)", "qkv (k_proj only)"
  std::vector<std::string> unread{};  ///< entries whose modules are not known here
};

/// The layers of a model whose modules are named.
struct NumberedLayers {
  std::vector<Layer> layers{};
  /// Layers of multi-token prediction, which are numbered on behind the others and have no product
  /// here.
  std::int64_t predicting = 0;
};

/// `described`: the object `quantization_config`. Its lists of modules that stay as they are
/// (`ignore`, `ignored_layers`, `modules_to_not_convert`, `exclude_modules`), and the `targets` of
/// its groups where they are not all linear modules. A text stands for a list of it. Throws: a list
/// that is neither. An entry counts in the layers that have its modules; one for a layer without
/// them is not known.
[[nodiscard]] UnquantizedModules unquantized_modules(const JsonReader& described,
                                                     const NumberedLayers& layers,
                                                     const ModelConfig& config);

}  // namespace overlaptune
