#pragma once
// The shape of a transformer layer, read from a Hugging Face `config.json` as published.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The sizes of the linear layers of one transformer block.
struct ModelConfig {
  /// Name of the file, or of its folder where the file is called config.json; empty where the
  /// config was not read from a file.
  std::string name{};
  std::string model_type;
  std::int64_t layers = 0;        ///< transformer blocks, alike but for their MLPs
  std::int64_t dense_layers = 0;  ///< those of them with a dense MLP; the others have experts
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< width of a dense MLP; 0 where every layer has experts
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;           ///< width of a query or key head
  std::int64_t value_head_dim = 0;     ///< width of a value head, which the output projection reads
  std::int64_t experts = 0;            ///< 0 for a dense model
  std::int64_t experts_per_token = 0;  ///< 0 where the config does not say it
  std::int64_t expert_intermediate = 0;  ///< width of an expert; 0 for a dense model
  std::int64_t shared_intermediate = 0;  ///< width of the expert that every token passes; 0: none
  std::int64_t vocabulary = 0;           ///< 0 where the config does not say it
  bool tied_embeddings = false;          ///< the output projection is the embedding
  bool gated = true;                     ///< the MLP has a gate beside `up`
  bool latent_attention = false;         ///< q, k and v come from low-rank factors (DeepSeek's MLA)
  Dtype dtype = Dtype::bf16;
  /// Sentences for the user: what was assumed or left out.
  std::vector<std::string> notes{};
};

/// Reads the fields of llama, mistral, mixtral, qwen2, qwen3, gemma, deepseek_v3, gpt_oss, glm,
/// bert, gpt_neox, gpt2 and similar models; a nested `text_config` is followed. `name` stands in
/// front of every message. Error: not a JSON object, a family whose layers have other products
/// (Mamba, DBRX, T5), or a field that is missing, has the wrong type or is out of range; the
/// message names the field and what is allowed.
[[nodiscard]] Expected<ModelConfig> parse_model_config(std::string_view json,
                                                       std::string_view name);

/// Reads the same from a file.
[[nodiscard]] Expected<ModelConfig> read_model_config(const std::filesystem::path& file);

}  // namespace overlaptune
