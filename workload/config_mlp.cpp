#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "json/reader.hpp"
#include "workload/config_parts.hpp"

namespace overlaptune {
namespace {

constexpr ConfigFields::Names kExperts{"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_num_experts"};
constexpr ConfigFields::Names kExpertsOfToken{
    "num_experts_per_tok", "experts_per_token",     "moe_k",    "moe_topk",
    "top_k_experts",       "num_experts_per_token", "moe_top_k"};

/// The width of the experts that every token passes, all together.
std::int64_t read_shared_width(ConfigFields& fields, const Family& family,
                               const ModelConfig& config) {
  if (family.shared_expert_as_wide) return config.expert_intermediate;
  if (fields.has("use_mixed_mlp_moe") && !fields.is_set("use_mixed_mlp_moe")) {  // Hunyuan
    fields.know({"num_shared_expert"});
    return 0;
  }
  auto width =
      fields.count_if_any({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                           "shared_intermediate_size"},
                          0);
  const auto number = fields
                          .alike_if_any({"n_shared_experts", "num_shared_experts",
                                         "num_shared_expert", "moe_num_shared_experts"},
                                        config.layers)
                          .value_or(0);
  if (width && family.shared_width_of_one) width = number * *width;
  return width.value_or(number * config.expert_intermediate);
}

/// The width of an expert. A default of the class goes before the width of dense MLPs, which some
/// classes have for experts, too.
std::int64_t read_expert_width(ConfigFields& fields, const Family& family, bool assume_dense,
                               const ModelConfig& config) {
  const auto width =
      fields.alike_if_any({"moe_intermediate_size", "expert_intermediate_size"}, config.layers, 1);
  fields.know({"intermediate_size"});
  if (width) return *width;
  if (family.is_known() && !family.experts_as_wide_as_mlp && !assume_dense) {
    fields.fail(
        fmt::format("moe_intermediate_size is missing: expected the width of an expert: "
                    "intermediate_size, which is that of a dense MLP in this class, was not taken; "
                    "or --assume-dense to take it{}",
                    fields.why_missing()));
  }
  const auto dense = fields.alike_if_any({"intermediate_size"}, config.layers, 1);
  if (!dense) fields.fail_missing({"moe_intermediate_size", "intermediate_size"});
  if (!family.is_known() && !assume_dense) {
    fields.fail(
        fmt::format("moe_intermediate_size is missing: expected the width of an expert "
                    "(intermediate_size was not taken), or --assume-dense to take "
                    "intermediate_size for it, too{}",
                    fields.why_missing()));
  }
  return *dense;
}

void read_experts(ConfigFields& fields, const Family& family, bool assume_dense,
                  ModelConfig& config) {
  fields.expect_one_value(kExpertsOfToken);
  config.experts_per_token = fields.alike_if_any(kExpertsOfToken, config.layers).value_or(0);
  if (config.experts_per_token > config.experts) {
    fields.fail(
        fmt::format("num_experts_per_tok = {}: expected at most the number of experts, {} "
                    "(num_local_experts, num_experts, n_routed_experts or moe_num_experts)",
                    config.experts_per_token, config.experts));
  }
  config.expert_intermediate = read_expert_width(fields, family, assume_dense, config);
  const bool has_width =
      fields.has("moe_intermediate_size") || fields.has("expert_intermediate_size");
  if (!has_width && family.is_known() && !family.experts_as_wide_as_mlp) {
    config.assumed_dense = true;
    config.assumptions.push_back(
        fmt::format("moe_intermediate_size is not in the file: experts are taken to be as wide as "
                    "the MLP, {}",
                    config.expert_intermediate));
  }
  // Nemotron 3: the shared expert and the router keep the hidden size.
  config.expert_hidden = fields.count_if_any({"moe_latent_size"}).value_or(config.hidden);
  config.shared_intermediate = read_shared_width(fields, family, config);
}

/// LFM2 counts a plain MLP and makes a gated one of about as many weights of it.
std::int64_t adjusted(ConfigFields& fields, std::int64_t width) {
  fields.know({"block_multiple_of", "block_ffn_dim_multiplier"});
  if (!fields.is_set("block_auto_adjust_ff_dim")) return width;
  const auto multiple = fields.count_if_any({"block_multiple_of"}).value_or(1);
  const double factor = fields.number_if_any("block_ffn_dim_multiplier").value_or(1);
  const auto scaled = static_cast<std::int64_t>(factor * static_cast<double>(2 * width / 3));
  return (scaled + multiple - 1) / multiple * multiple;
}

/// The widths of dense MLPs, layer by layer.
std::vector<std::int64_t> read_widths(ConfigFields& fields, const Family& family,
                                      const ModelConfig& config) {
  fields.expect_one_value({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"});
  auto widths = fields.by_layer({"intermediate_size_mlp", "block_ff_dim", "intermediate_size",
                                 "n_inner", "ffn_dim", "ffn_hidden_size"},
                                config.layers);
  // Granite without experts has its shared expert only.
  if (const auto shared = fields.count_if_any({"shared_intermediate_size"}, 0);
      shared && *shared > 0 && config.experts == 0) {
    widths.assign(widths.size(), *shared);
  }
  if (widths.empty()) {
    if (config.gated) {
      fields.fail_missing({"intermediate_size", "block_ff_dim", "ffn_hidden_size"});
    }
    const auto ratio = fields.count_if_any({"expansion_ratio", "mlp_ratio"}).value_or(4);
    fields.add_default(
        fmt::format("intermediate_size = {} ({} x hidden_size)", ratio * config.hidden, ratio));
    widths.assign(static_cast<std::size_t>(config.layers), ratio * config.hidden);
  }
  for (std::int64_t& width : widths) {
    width = adjusted(fields, width);
    if (family.halved_mlp) width /= 2;
  }
  if (fields.is_set("use_double_wide_mlp")) {  // layers that use keys of others are twice as wide
    const auto shared = fields.count_if_any({"num_kv_shared_layers"}, 0).value_or(0);
    for (auto i = std::max<std::int64_t>(config.layers - shared, 0); i < config.layers; ++i) {
      widths[static_cast<std::size_t>(i)] *= 2;
    }
  }
  return widths;
}

void group_widths(const ConfigFields& fields, const std::vector<std::int64_t>& widths,
                  const std::vector<Layer>& layers, ModelConfig& config) {
  const std::set<std::int64_t> different(widths.begin(), widths.end());
  if (different.size() > kMostWidths) {
    fields.fail(
        fmt::format("intermediate_size has {} different widths: expected at most {}, each of which "
                    "has products to plan of its own",
                    different.size(), kMostWidths));
  }
  std::vector<DenseLayers> groups;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].dense) count_layer(groups, DenseLayers{.intermediate = widths[i]});
  }
  sort_by_layers(groups);
  config.dense_layers = groups.front().layers;
  config.intermediate = groups.front().intermediate;
  config.other_dense.assign(groups.begin() + 1, groups.end());
}

/// Whether an activation multiplies two halves: SwiGLU, gated-gelu (T5), silu_and_mul (vLLM).
bool has_gate(const std::string& name) {
  return name.find("glu") != name.npos || name == "gegelu" || name.starts_with("gated") ||
         name.ends_with("_and_mul");
}

/// Whether an MLP has a gate, by what a file calls it in small letters; none where it calls it
/// nothing.
std::optional<bool> named_gate(ConfigFields& fields, const std::string& activation) {
  const std::string kind = lower_case(fields.text_if_any({"feed_forward_type"}));  // JinaBERT
  if (has_gate(activation) || has_gate(kind)) return true;
  if (kind.empty()) return std::nullopt;
  if (kind != "original") {
    fields.fail(fmt::format("feed_forward_type = {}: expected original, geglu, reglu or swiglu",
                            one_line(kind, 40)));
  }
  return false;
}

}  // namespace

std::int64_t read_expert_count(ConfigFields& fields, const Family& family, std::int64_t layers) {
  if (family.dense_beside_experts && !fields.is_set("enable_moe_block")) return 0;
  fields.expect_one_value(kExperts);
  const auto experts = fields.alike_if_any(kExperts, layers).value_or(0);
  return experts == 1 ? 0 : experts;  // Hunyuan's dense models say 1
}

void read_mlp(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
              bool assume_dense, ModelConfig& config) {
  const std::string activation = lower_case(fields.text_if_any(
      {"hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act"}));
  const auto named = named_gate(fields, activation);
  if (family.is_known()) {
    config.gated = named.value_or(family.gated);
  } else {
    config.gated =
        named.value_or(activation.empty() || activation == "silu" || activation == "swish");
    config.assumptions.push_back(
        fmt::format("model_type '{}' is not known: its layers are taken to be attention and an MLP "
                    "{} a gate{}",
                    config.model_type, config.gated ? "with" : "without",
                    activation.empty() ? ", though the file names no activation" : ""));
  }
  const bool any_dense =
      std::any_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.dense; });
  config.expert_layers =
      std::count_if(layers.begin(), layers.end(), [](const Layer& layer) { return layer.experts; });
  if (config.expert_layers > 0) {
    if (!any_dense) fields.know({"intermediate_size_mlp"});
    read_experts(fields, family, assume_dense, config);
  } else {  // dense models of families with experts keep their fields
    const bool is_counted = fields.is_in_file("num_experts_per_tok");
    const auto per_token =
        is_counted ? fields.count_if_any({"num_experts_per_tok"}, 0).value_or(0) : 0;
    const bool counted = std::any_of(kExperts.begin(), kExperts.end(),
                                     [&](const char* name) { return fields.has(name); });
    if (per_token > 1 && !counted) {
      config.assumptions.push_back(fmt::format(
          "num_experts_per_tok is {}, but the number of experts is not in the file: all layers are "
          "taken to be dense",
          per_token));
    }
    fields.know({"num_experts_per_tok", "experts_per_token", "moe_topk", "moe_intermediate_size",
                 "moe_latent_size", "use_mixed_mlp_moe", "num_shared_expert", "n_shared_experts",
                 "num_shared_experts", "mlp_only_layers", "decoder_sparse_step",
                 "first_k_dense_replace", "moe_layer_num_skipped", "expert_layer_period",
                 "expert_layer_offset"});
  }
  if (any_dense) group_widths(fields, read_widths(fields, family, config), layers, config);
}

}  // namespace overlaptune
