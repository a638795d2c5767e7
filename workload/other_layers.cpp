// Layers without a product of ours: what they are, how many there are, and their weights.

#include <map>

#include <fmt/format.h>

#include "workload/config_parts.hpp"
#include "workload/weights.hpp"

namespace overlaptune {
namespace {

constexpr double kNotCounted = -1;

/// Gated DeltaNet (Qwen3-Next): q, k, v and a gate, two numbers a value head, and the output.
/// Layers of a model that is not known may be of another kind, and have no such fields.
double linear_weights(ConfigFields& fields, std::int64_t hidden) {
  if (!fields.has("linear_num_key_heads")) return kNotCounted;
  const auto keys = fields.count({"linear_num_key_heads"}) * fields.count({"linear_key_head_dim"});
  const auto value_heads = fields.count({"linear_num_value_heads"});
  const auto values = value_heads * fields.count({"linear_value_head_dim"});
  return product(hidden, 2 * keys + 2 * values + 2 * value_heads) + product(values, hidden);
}

/// Mamba 2: gate, input, states of the groups and a step for each head in one projection.
double mamba2_weights(ConfigFields& fields, std::int64_t hidden) {
  const auto heads = fields.count({"mamba_n_heads", "mamba_num_heads"});
  const auto groups = fields.count_if_any({"mamba_n_groups", "n_groups"}).value_or(1);
  const auto states = fields.count({"mamba_d_state", "ssm_state_size"});
  const auto own = fields.count_if_any({"mamba_d_ssm"});
  const auto head_dim = fields.count_if_any({"mamba_head_dim"});
  const std::int64_t inner =
      own        ? *own
      : head_dim ? heads * *head_dim
                 : hidden * fields.count_if_any({"mamba_expand", "expand"}).value_or(2);
  return product(hidden, 2 * inner + 2 * groups * states + heads) + product(inner, hidden);
}

/// Mamba 1 (Jamba): two halves, the step's low-rank projection, states, the output.
double mamba_weights(ConfigFields& fields, std::int64_t hidden) {
  constexpr std::int64_t kStepRatio = 16;  // of hidden to the rank of the step
  const auto inner = hidden * fields.count_if_any({"mamba_expand"}).value_or(2);
  const auto states = fields.count_if_any({"mamba_d_state"}).value_or(16);
  const auto rank = (hidden + kStepRatio - 1) / kStepRatio;
  return product(hidden, 2 * inner) + product(inner, rank + 2 * states) + product(rank, inner) +
         product(inner, states) + product(inner, hidden);
}

double weights_of_mixer(ConfigFields& fields, Mixer mixer, const ModelConfig& config) {
  const auto queries = config.heads * config.head_dim;
  switch (mixer) {
    case Mixer::linear:
      return linear_weights(fields, config.hidden);
    case Mixer::lightning:  // q, k, v, a gate and the output
      return 5 * product(config.hidden, queries);
    case Mixer::mamba:
      return mamba_weights(fields, config.hidden);
    case Mixer::mamba2:
      return mamba2_weights(fields, config.hidden);
    case Mixer::conv:  // two gates and the input, then the output
      return 4 * product(config.hidden, config.hidden);
    case Mixer::cross:
      return 2 * product(config.hidden, queries + config.kv_heads * config.head_dim);
    case Mixer::none:
      return 0;
    default:
      return kNotCounted;
  }
}

/// Files of families with Mamba have its sizes where no layer is one, too.
void know_absent(ConfigFields& fields, const Family& family,
                 const std::map<Mixer, std::int64_t>& counts) {
  if (!family.is_known() || counts.contains(Mixer::mamba) || counts.contains(Mixer::mamba2)) return;
  const bool has_mamba = family.other_layers == "mamba" || family.other_layers == "mamba2";
  if (!has_mamba) return;
  fields.know({"mamba_n_heads", "mamba_num_heads", "mamba_n_groups", "n_groups", "mamba_d_state",
               "ssm_state_size", "mamba_d_ssm", "mamba_head_dim", "mamba_d_head", "mamba_expand",
               "expand", "mamba_d_conv", "mamba_chunk_size", "mamba_dt_rank"});
}

}  // namespace

void read_other_layers(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
                       ModelConfig& config) {
  std::map<Mixer, std::int64_t> counts;
  for (const Layer& layer : layers) {
    if (!is_attention(layer.mixer)) ++counts[layer.mixer];
  }
  for (const auto& [mixer, count] : counts) {
    config.other_layers.push_back({.what = in_words(mixer),
                                   .layers = count,
                                   .weights = weights_of_mixer(fields, mixer, config)});
    config.assumptions.push_back(
        mixer == Mixer::none
            ? fmt::format("{} of {} layers have an MLP or experts only", count, config.layers)
            : fmt::format("{} of {} layers are left out but for their MLPs: {}, which has other "
                          "products than attention",
                          count, config.layers, in_words(mixer)));
  }
  know_absent(fields, family, counts);
  if (family.beside.empty()) return;
  const Mixer beside = mixer_named(fields, "families.json", family.beside, {});
  config.other_layers.push_back({.what = in_words(beside),
                                 .layers = config.layers,
                                 .beside_attention = true,
                                 .weights = weights_of_mixer(fields, beside, config)});
  config.assumptions.push_back(
      fmt::format("all {} layers have {} beside their attention, whose products are left out",
                  config.layers, in_words(beside)));
}

}  // namespace overlaptune
