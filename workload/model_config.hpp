#pragma once
// The sizes of a model's layers, read from a Hugging Face `config.json` as published.

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/layer_gemm.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// Attention of one size, and the layers that have it.
struct AttentionLayers {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;        ///< width of a query or key head
  std::int64_t value_head_dim = 0;  ///< width of a value head, which the output projection reads
  int key_projections = 2;  ///< beside the queries: keys and values; 1: one for both; 0: none,
                            ///< where a layer uses those of a layer before it
  friend bool operator==(const AttentionLayers&, const AttentionLayers&) = default;
};

/// Dense MLPs of one width, and the layers that have them.
struct DenseLayers {
  std::int64_t layers = 0;
  std::int64_t intermediate = 0;
  friend bool operator==(const DenseLayers&, const DenseLayers&) = default;
};

/// Layers, or parts beside their attention, whose products are not among those of `Product`.
struct OtherLayers {
  std::string what;  ///< "Mamba"
  std::int64_t layers = 0;
  bool beside_attention = false;  ///< the layers have attention, too
  double weights = 0;             ///< of one layer; below 0 where they are not counted
};

/// Low-rank factors of queries, keys and values. All 0 for plain attention.
struct LatentRanks {
  std::int64_t query_rank = 0;     ///< 0: queries come from one projection
  std::int64_t key_rank = 0;       ///< of keys and values together
  std::int64_t rope_dim = 0;       ///< part of a key head that all heads share
  std::int64_t output_rank = 0;    ///< of each group of the output projection; 0: one projection
  std::int64_t output_groups = 0;  ///< of heads
};

/// The sizes of the products of a model's layers.
struct ModelConfig {
  /// Name of the file, or of its folder where the file is called config.json; empty where the
  /// config was not read from a file.
  std::string name{};
  std::string model_type;
  std::int64_t layers = 0;        ///< blocks, each with attention, an MLP, or both
  std::int64_t loops = 1;         ///< how often a pass runs all of them
  std::int64_t dense_layers = 0;  ///< those with a dense MLP as wide as `intermediate`
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< width of a dense MLP; 0 where every layer has experts
  std::int64_t heads = 0;         ///< this and the next three: of the attention of most layers
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_head_dim = 0;
  int key_projections = 2;                         ///< as in `AttentionLayers`
  std::vector<AttentionLayers> other_attention{};  ///< that of the other layers
  std::vector<DenseLayers> other_dense{};          ///< dense MLPs of another width
  std::vector<OtherLayers> other_layers{};         ///< what has no product here
  std::int64_t expert_layers = 0;                  ///< layers with experts
  std::int64_t experts = 0;                        ///< 0 for a dense model
  std::int64_t experts_per_token = 0;              ///< 0 where the config does not say it
  std::int64_t expert_intermediate = 0;            ///< width of an expert; 0 for a dense model
  std::int64_t expert_hidden = 0;  ///< width of the rows of experts: `hidden`, or a latent size
  std::int64_t shared_intermediate = 0;  ///< width of the expert that every token passes; 0: none
  std::int64_t vocabulary = 0;           ///< 0 where the config does not say it
  std::int64_t embedding_width = 0;      ///< other than `hidden`: with projections to it and back
  std::int64_t per_layer_inputs = 0;     ///< width of the embeddings of each layer; 0: none
  bool tied_embeddings = false;          ///< the output projection is the embedding
  bool gated = true;                     ///< MLPs have a gate beside `up`
  bool causal = true;                    ///< a token attends to those before it only
  std::int64_t window = 0;               ///< tokens to which some layers attend; 0: no limit
  bool query_gate = false;               ///< qkv also makes a gate as wide as the queries
  bool latent_attention = false;         ///< q, k and v come from low-rank factors
  LatentRanks ranks{};
  Elements elements = Elements::bf16;
  /// Products that a quantised model has in `plain_elements`.
  std::set<Product> in_16_bits{};
  Elements plain_elements = Elements::bf16;  ///< of all that is not quantised, as attention
  /// Sentences for the user: what was assumed or left out.
  std::vector<std::string> assumptions{};
  bool assumed_dense = false;  ///< fields that speak of the layers were passed over on request
  std::string not_counted{};   ///< parts whose weights are not known; empty: none
};

/// Layers that have attention of the sizes of `config` itself, not of `other_attention`.
[[nodiscard]] std::int64_t main_attention_layers(const ModelConfig& config);

/// All attention of a model, that of most layers first.
[[nodiscard]] std::vector<AttentionLayers> attention_of(const ModelConfig& config);

/// The elements of one product.
[[nodiscard]] Elements elements_of_product(const ModelConfig& config, Product product);

/// All dense MLPs of a model; none where every layer has experts.
[[nodiscard]] std::vector<DenseLayers> dense_of(const ModelConfig& config);

/// The share of the two products of attention that its mask leaves.
[[nodiscard]] constexpr double unmasked_share(const ModelConfig& config) {
  return config.causal ? 0.5 : 1;
}

/// Why a model's layers are not one dense layer again and again; empty where they are.
[[nodiscard]] std::string why_not_alike(const ModelConfig& config);

/// Most layers of a model.
inline constexpr std::int64_t kMostLayers = 100'000;

/// Most widths of dense MLPs in a model. A plan takes some milliseconds for each.
inline constexpr std::size_t kMostWidths = 500;

struct ReadingOptions {
  /// Take a model_type that is not known for layers of attention and an MLP, whatever fields it
  /// has.
  bool assume_dense = false;
};

/// Reads the families in families.json (docs/models.md), and others whose fields are those of
/// families; a nested config of the language model is followed. `name` stands in front of every
/// message. Error: not a JSON object; a family whose layers have other products (Mamba, T5); a type
/// that is not known with fields that are not known and speak of the layers; a field that is
/// missing, has the wrong type or is out of range. The message names the fields and what is
/// allowed.
[[nodiscard]] Expected<ModelConfig> parse_model_config(std::string_view json, std::string_view name,
                                                       const ReadingOptions& options = {});

/// Reads the same from a file.
[[nodiscard]] Expected<ModelConfig> read_model_config(const std::filesystem::path& file,
                                                      const ReadingOptions& options = {});

}  // namespace overlaptune
