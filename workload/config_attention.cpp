#include <fmt/format.h>

#include "workload/config_parts.hpp"

namespace overlaptune {
namespace {

constexpr ConfigFields::Names kHeads{"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr ConfigFields::Names kHeadDim{"head_dim", "kv_channels", "attention_head_dim"};

/// Heads of keys and values of each layer. In falcon and gpt_bigcode `multi_query` means one head
/// for all queries, and without it each query has its own, whatever else the file says.
std::vector<std::int64_t> read_kv_heads(ConfigFields& fields, const Family& family,
                                        std::int64_t layers, std::int64_t heads) {
  const auto all = [&](std::int64_t value) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(layers), value);
  };
  if (!fields.is_set("new_decoder_architecture")) {
    const bool by_flag = family.defaults.contains("multi_query");
    const bool is_one = fields.is_set("multi_query");
    if (is_one || by_flag) {
      fields.know({"num_kv_heads", "n_head_kv"});
      return all(is_one ? 1 : heads);
    }
  }
  fields.know({"multi_query"});                  // Falcon's new decoder has heads of its own number
  if (fields.is_set("multi_query_attention")) {  // chatglm
    if (const auto groups = fields.count_if_any({"multi_query_group_num"})) return all(*groups);
  }
  // Megatron-LM's num_query_groups are groups of queries that share one head of keys.
  fields.expect_one_value(
      {"num_key_value_heads", "num_kv_heads", "n_kv_heads", "num_query_groups"});
  auto list = fields.by_layer({"num_key_value_heads_per_layer", "num_key_value_heads",
                               "num_kv_heads", "n_kv_heads", "num_query_groups"},
                              layers);
  if (!list.empty()) return list;
  fields.add_default(fmt::format("num_key_value_heads = {} (as many as heads)", heads));
  return all(heads);
}

void check_divisor(const ConfigFields& fields, std::int64_t kv_heads, std::int64_t heads) {
  if (heads % kv_heads == 0) return;
  fields.fail(fmt::format(
      "num_key_value_heads = {}: expected a divisor of num_attention_heads = {}", kv_heads, heads));
}

/// The ranks of latent attention, and the width of its heads.
void read_latent(ConfigFields& fields, const Family& family, ModelConfig& config,
                 AttentionLayers& sizes) {
  config.ranks.query_rank = fields.count_if_any({"q_lora_rank"}).value_or(0);
  const auto key_rank = fields.count_if_any({"kv_lora_rank"});
  if (!key_rank) {
    fields.fail(
        "kv_lora_rank is missing: expected a whole number from 1 to 2^31 - 1, or use_mla = false "
        "where attention is not latent");
  }
  config.ranks.key_rank = *key_rank;
  config.ranks.rope_dim = fields.count_if_any({"qk_rope_head_dim"}, 0).value_or(0);
  const auto plain = fields.count_if_any({"qk_nope_head_dim"}, 0).value_or(0);
  const auto values = fields.count_if_any({"v_head_dim"});
  if (!values && family.is_known()) {  // MiniCPM3
    sizes.value_head_dim = config.hidden / sizes.heads;
    fields.add_default(
        fmt::format("v_head_dim = {} (hidden_size / num_attention_heads)", sizes.value_head_dim));
  } else {
    sizes.value_head_dim = fields.count({"v_head_dim"});
  }
  sizes.head_dim = plain + config.ranks.rope_dim;
  if (sizes.head_dim == 0) sizes.head_dim = sizes.value_head_dim;
  fields.know({"head_dim", "qk_head_dim"});  // those of the part with positions, or both together
}

/// DeepSeek-V4: one key that is the value, too, and an output projection in groups of heads.
void read_shared_key(ConfigFields& fields, ModelConfig& config, AttentionLayers& sizes) {
  config.ranks.query_rank = fields.count({"q_lora_rank"});
  config.ranks.output_rank = fields.count({"o_lora_rank"});
  config.ranks.output_groups = fields.count({"o_groups"});
  sizes.head_dim = fields.count({"head_dim"});
  sizes.value_head_dim = sizes.head_dim;
  sizes.key_projections = 1;
  fields.know({"qk_rope_head_dim"});
}

/// DeepSeek's smallest models have the fields of latent attention, and no such attention.
bool is_latent_off(ConfigFields& fields) {
  if (!fields.has("use_mla") || fields.is_set("use_mla")) return false;
  fields.know(
      {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"});
  return true;
}

void read_plain(ConfigFields& fields, const ModelConfig& config, bool own_values,
                AttentionLayers& sizes) {
  fields.expect_one_value(kHeadDim);
  const auto head_dim = fields.count_if_any(kHeadDim);
  if (!head_dim && config.hidden % sizes.heads != 0) {
    fields.fail(
        fmt::format("hidden_size = {}: expected a multiple of num_attention_heads = {}, or "
                    "head_dim beside it",
                    config.hidden, sizes.heads));
  }
  sizes.head_dim = head_dim.value_or(config.hidden / sizes.heads);
  if (!head_dim) {
    fields.add_default(
        fmt::format("head_dim = {} (hidden_size / num_attention_heads)", sizes.head_dim));
  }
  sizes.value_head_dim = sizes.head_dim;
  if (own_values) {
    sizes.value_head_dim = fields.count_if_any({"v_head_dim"}).value_or(sizes.head_dim);
  }
}

/// Sizes that layers of one mixer have instead.
struct OwnSizes {
  std::optional<std::int64_t> heads{};
  std::optional<std::int64_t> kv_heads{};
  std::optional<std::int64_t> head_dim{};
  std::optional<std::int64_t> value_head_dim{};
};

struct Exceptions {
  OwnSizes full{};                ///< gemma4
  OwnSizes window{};              ///< mimo_v2
  bool keys_are_values = false;   ///< in layers with full attention
  std::int64_t first_shared = 0;  ///< from here on, layers use keys and values of others
};

Exceptions read_exceptions(ConfigFields& fields, std::int64_t layers) {
  const auto shared = fields.count_if_any({"num_kv_shared_layers"}, 0).value_or(0);
  if (shared > 0 && shared >= layers) {
    fields.fail(
        fmt::format("num_kv_shared_layers = {}: expected less than the {} layers", shared, layers));
  }
  Exceptions found{.first_shared = layers - shared};
  found.full.head_dim = found.full.value_head_dim = fields.count_if_any({"global_head_dim"});
  found.keys_are_values = fields.is_set("attention_k_eq_v");
  found.window = {.heads = fields.count_if_any({"swa_num_attention_heads"}),
                  .kv_heads = fields.count_if_any({"swa_num_key_value_heads"}),
                  .head_dim = fields.count_if_any({"swa_head_dim"}),
                  .value_head_dim = fields.count_if_any({"swa_v_head_dim"})};
  if (!found.window.value_head_dim) found.window.value_head_dim = found.window.head_dim;
  const auto kv_heads = fields.count_if_any({"num_global_key_value_heads"});
  if (found.keys_are_values) found.full.kv_heads = kv_heads;
  return found;
}

AttentionLayers with_exceptions(AttentionLayers sizes, const Exceptions& exceptions, Mixer mixer,
                                std::int64_t index) {
  const bool full = mixer == Mixer::full;
  const OwnSizes& own = full ? exceptions.full : exceptions.window;
  sizes.heads = own.heads.value_or(sizes.heads);
  sizes.kv_heads = own.kv_heads.value_or(sizes.kv_heads);
  sizes.head_dim = own.head_dim.value_or(sizes.head_dim);
  sizes.value_head_dim = own.value_head_dim.value_or(sizes.value_head_dim);
  if (full && exceptions.keys_are_values) sizes.key_projections = 1;
  if (index >= exceptions.first_shared) sizes.key_projections = 0;
  return sizes;
}

/// Whether the projection of the queries also makes a gate. Files since Qwen3.5 say it themselves;
/// programs differ in whether a false counts.
bool read_query_gate(ConfigFields& fields, const Family& family, ModelConfig& config) {
  const bool by_class = family.query_gate;
  if (!fields.is_in_file("attn_output_gate")) return by_class;
  const bool by_file = fields.is_set("attn_output_gate");
  if (by_class && !by_file) {
    config.assumptions.emplace_back(
        "attn_output_gate = false: qkv is taken without a gate, as vLLM reads it; the class in "
        "transformers has the gate all the same");
  }
  return by_file;
}

}  // namespace

void read_attention(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
                    ModelConfig& config) {
  fields.expect_one_value(kHeads);
  AttentionLayers sizes{.heads = fields.count(kHeads)};
  const auto kv_heads = read_kv_heads(fields, family, config.layers, sizes.heads);
  for (const std::int64_t each : kv_heads) check_divisor(fields, each, sizes.heads);
  const auto kind = family.attention;
  const bool off = is_latent_off(fields);
  const bool latent = !off && (kind == AttentionKind::latent || fields.has("kv_lora_rank"));
  config.latent_attention = latent || kind == AttentionKind::shared_key;
  if (kind == AttentionKind::shared_key) {
    read_shared_key(fields, config, sizes);
  } else if (latent) {
    read_latent(fields, family, config, sizes);
  } else {
    read_plain(fields, config, !off, sizes);
  }
  const Exceptions exceptions = read_exceptions(fields, config.layers);
  std::vector<AttentionLayers> groups;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!is_attention(layers[i].mixer)) continue;
    sizes.kv_heads = kv_heads[i];
    const auto own =
        with_exceptions(sizes, exceptions, layers[i].mixer, static_cast<std::int64_t>(i));
    check_divisor(fields, own.kv_heads, own.heads);
    count_layer(groups, own);
  }
  if (groups.empty()) fields.fail("no layer has attention: expected layers of attention");
  sort_by_layers(groups);
  const AttentionLayers& most = groups.front();
  config.heads = most.heads;
  config.kv_heads = most.kv_heads;
  config.head_dim = most.head_dim;
  config.value_head_dim = most.value_head_dim;
  config.key_projections = most.key_projections;
  config.other_attention.assign(groups.begin() + 1, groups.end());
  config.query_gate = read_query_gate(fields, family, config);
}

}  // namespace overlaptune
