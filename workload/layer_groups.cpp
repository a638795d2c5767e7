// Groups of layers that have attention or MLPs of one size.

#include <fmt/format.h>

#include "workload/model_config.hpp"

namespace overlaptune {

std::int64_t main_attention_layers(const ModelConfig& config) {
  std::int64_t layers = config.layers;
  for (const AttentionLayers& other : config.other_attention) layers -= other.layers;
  for (const OtherLayers& other : config.other_layers) {
    if (!other.beside_attention) layers -= other.layers;
  }
  return layers;
}

std::vector<AttentionLayers> attention_of(const ModelConfig& config) {
  std::vector<AttentionLayers> list{{.layers = main_attention_layers(config),
                                     .heads = config.heads,
                                     .kv_heads = config.kv_heads,
                                     .head_dim = config.head_dim,
                                     .value_head_dim = config.value_head_dim,
                                     .key_projections = config.key_projections}};
  list.insert(list.end(), config.other_attention.begin(), config.other_attention.end());
  return list;
}

Elements elements_of_product(const ModelConfig& config, Product product) {
  return config.in_16_bits.contains(product) ? config.plain_elements : config.elements;
}

std::vector<DenseLayers> dense_of(const ModelConfig& config) {
  if (config.dense_layers == 0) return {};
  std::vector<DenseLayers> list{
      {.layers = config.dense_layers, .intermediate = config.intermediate}};
  list.insert(list.end(), config.other_dense.begin(), config.other_dense.end());
  return list;
}

std::string why_not_alike(const ModelConfig& config) {
  if (config.experts > 0) return fmt::format("{} experts", config.experts);
  if (config.latent_attention) return "latent attention";
  const auto some = [&](std::int64_t layers, const std::string& what) {
    return fmt::format("{} of {} layers have {}", layers, config.layers, what);
  };
  if (!config.other_layers.empty()) {
    const OtherLayers& other = config.other_layers.front();
    return some(other.layers, other.what);
  }
  if (!config.other_attention.empty()) {
    return some(config.other_attention.front().layers, "attention of another size");
  }
  if (!config.other_dense.empty()) {
    return some(config.other_dense.front().layers, "an MLP of another width");
  }
  if (config.loops > 1) return fmt::format("layers that run {} times", config.loops);
  if (config.query_gate) return "a gate beside the queries";
  if (config.key_projections != 2) return "keys that are values, too";
  return {};
}

}  // namespace overlaptune
