#pragma once
// The sizes of a layer's products on one rank.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/layer_gemm.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

/// Columns of the projection to queries, keys and values with so many heads.
[[nodiscard]] std::int64_t qkv_width(const ModelConfig& config, const AttentionLayers& attention,
                                     std::int64_t heads, std::int64_t kv_heads);

/// A product as one rank computes it.
struct LayerShape {
  Product product = Product::o;
  std::optional<Op> op{};  ///< none: no collective beside the GEMM, or none that can overlap
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t layers = 0;  ///< layers that have the product
};

/// The products of attention, of a dense MLP and of the expert that every token passes. Error: a
/// size that `tp` does not divide; the message names the field.
[[nodiscard]] Expected<std::vector<LayerShape>> layer_shapes(const ModelConfig& config, int tp,
                                                             Parallelism parallelism,
                                                             std::int64_t tokens);

}  // namespace overlaptune
