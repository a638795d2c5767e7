#include "workload/weights.hpp"

#include <fmt/format.h>

#include "workload/layer_shapes.hpp"

namespace overlaptune {
namespace {

/// Queries through their rank, or by one projection.
double query_weights(const ModelConfig& config, std::int64_t width) {
  const std::int64_t rank = config.ranks.query_rank;
  return rank == 0 ? product(config.hidden, width)
                   : product(config.hidden, rank) + product(rank, width);
}

double latent_weights(const ModelConfig& config, const AttentionLayers& each) {
  const LatentRanks& ranks = config.ranks;
  const double queries = query_weights(config, each.heads * each.head_dim);
  const std::int64_t outputs = each.heads * each.value_head_dim;
  if (ranks.output_rank > 0) {
    // One key for all heads; each group of heads has its own factor of the output.
    return queries + product(config.hidden, each.kv_heads * each.head_dim) +
           product(outputs, ranks.output_rank) +
           product(ranks.output_groups * ranks.output_rank, config.hidden);
  }
  const std::int64_t expanded = each.heads * (each.head_dim - ranks.rope_dim) + outputs;
  return queries + product(config.hidden, ranks.key_rank + ranks.rope_dim) +
         product(ranks.key_rank, expanded) + product(outputs, config.hidden);
}

double attention_weights(const ModelConfig& config, const AttentionLayers& each) {
  if (config.latent_attention) return latent_weights(config, each);
  return product(config.hidden, qkv_width(config, each, each.heads, each.kv_heads) +
                                    each.heads * each.value_head_dim);
}

/// From embeddings of a width of their own to the hidden states, and back.
double projection_weights(const ModelConfig& config) {
  const std::int64_t width = config.embedding_width;
  return width == config.hidden ? 0 : 2 * product(width, config.hidden);
}

/// Embeddings of each layer, the products to and from the hidden states, and the one that makes
/// all of them (Gemma 4).
double per_layer_input_weights(const ModelConfig& config) {
  const std::int64_t width = config.per_layer_inputs;
  return product(config.layers * width, config.vocabulary + 3 * config.hidden);
}

}  // namespace

Expected<Weights> weights_of(const ModelConfig& config) {
  const auto not_counted = [&](const std::string& what) {
    return bad_input(fmt::format("{}: the weights of {} are not counted: expected a model without",
                                 config.name, what));
  };
  if (!config.not_counted.empty()) return not_counted(config.not_counted);
  double layers = 0;  // of all but experts
  for (const AttentionLayers& each : attention_of(config)) {
    layers += static_cast<double>(each.layers) * attention_weights(config, each);
  }
  for (const OtherLayers& each : config.other_layers) {
    if (each.weights < 0) return not_counted(each.what);
    layers += static_cast<double>(each.layers) * each.weights;
  }
  const std::int64_t matrices = config.gated ? 3 : 2;
  for (const DenseLayers& each : dense_of(config)) {
    layers +=
        static_cast<double>(each.layers * matrices) * product(config.hidden, each.intermediate);
  }
  const auto expert_layers = static_cast<double>(config.expert_layers);
  const double expert = expert_layers * static_cast<double>(matrices) *
                        product(config.expert_hidden, config.expert_intermediate);
  // To the rows of the experts and back, where they have a width of their own.
  const double latent =
      config.expert_hidden == config.hidden ? 0 : 2 * product(config.hidden, config.expert_hidden);
  // The shared expert, and the router.
  layers += expert_layers *
            (static_cast<double>(matrices) * product(config.hidden, config.shared_intermediate) +
             product(config.hidden, config.experts) + latent);
  const double embedding = product(config.vocabulary, config.embedding_width);
  const double ends = (config.tied_embeddings ? 1 : 2) * embedding + projection_weights(config) +
                      per_layer_input_weights(config);
  return Weights{
      .all = layers + static_cast<double>(config.experts) * expert + ends,
      .per_token = static_cast<double>(config.loops) *
                       (layers + static_cast<double>(config.experts_per_token) * expert) +
                   ends};
}

}  // namespace overlaptune
