#include "workload/config_layers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace overlaptune {
namespace {

struct NamedMixer {
  Mixer mixer;
  std::string_view in_words;
  std::array<std::string_view, 6> names;  ///< in files and families.json
};

constexpr NamedMixer kMixers[] = {
    {Mixer::full,
     "attention",
     {"full_attention", "attention", "global", "compressed_sparse_attention",
      "heavily_compressed_attention", "hybrid"}},
    {Mixer::window, "attention", {"sliding_attention", "sliding", "chunked_attention", "local"}},
    {Mixer::none, "an MLP only", {"mlp", "moe", "none"}},
    {Mixer::linear, "linear attention", {"linear_attention", "linear"}},
    {Mixer::lightning, "linear attention", {"lightning"}},
    {Mixer::mamba, "Mamba", {"mamba"}},
    {Mixer::mamba2, "Mamba", {"mamba2"}},
    {Mixer::conv, "convolution", {"conv"}},
    {Mixer::recurrent, "recurrent", {"recurrent"}},
    {Mixer::cross, "cross-attention", {"cross", "cross_attention"}}};

struct LayerNames {
  std::string field{};  ///< that the names come from
  std::vector<std::string> names{};
};

/// The names of the layers by a list of them. A shorter list of recurrent_gemma is repeated.
LayerNames repeated(ConfigFields& fields, const std::string& field, std::vector<std::string> names,
                    std::int64_t layers, bool may_repeat) {
  const auto size = static_cast<std::size_t>(layers);
  if (names.empty() || (names.size() != size && !may_repeat)) {
    fields.fail(fmt::format("{} has {} entries: expected one for each of {} layers", field,
                            names.size(), layers));
  }
  const std::size_t period = names.size();
  names.reserve(size);
  while (names.size() < size) names.push_back(names[names.size() - period]);
  names.resize(size);
  return {field, std::move(names)};
}

/// The names in Nemotron-H's pattern: M, *, - and E.
std::vector<std::string> of_pattern(ConfigFields& fields, const std::string& pattern) {
  std::vector<std::string> names;
  for (const char c : pattern) {
    const std::string_view letters = "M*-E";
    constexpr std::array<const char*, 4> kNames{"mamba2", "attention", "mlp", "moe"};
    const auto at = letters.find(c);
    if (at == letters.npos) {
      fields.fail(fmt::format("hybrid_override_pattern has the letter '{}': expected M, *, - and E",
                              std::string(1, c)));
    }
    names.emplace_back(kNames.at(at));
  }
  return names;
}

/// Names by a rule of a field: `is_attention(i)` for attention, else `other`.
template <class Rule>
LayerNames by_rule(const std::string& field, std::int64_t layers, const std::string& attention,
                   const std::string& other, Rule is_attention) {
  LayerNames made{field};
  for (std::int64_t i = 0; i < layers; ++i) {
    made.names.push_back(is_attention(i) ? attention : other);
  }
  return made;
}

/// The names that the file lists itself.
std::optional<LayerNames> listed(ConfigFields& fields, std::int64_t layers) {
  for (const char* field : {"layer_types", "layers_block_type", "block_types", "_block_types"}) {
    if (auto names = fields.texts_if_any({field})) {
      const bool may_repeat = std::string_view(field).ends_with("block_types");
      return repeated(fields, field, std::move(*names), layers, may_repeat);
    }
  }
  const char* const pattern = "hybrid_override_pattern";
  if (!fields.has(pattern)) return std::nullopt;
  return repeated(fields, pattern, of_pattern(fields, fields.text_if_any({pattern})), layers,
                  false);
}

/// The names by a list of numbers, or of indices, of the layers.
std::optional<LayerNames> numbered(ConfigFields& fields, const std::string& other,
                                   std::int64_t layers) {
  const std::pair<const char*, std::pair<std::string, std::string>> flags[] = {
      {"attn_type_list", {other, "attention"}}, {"hybrid_layer_pattern", {"attention", "sliding"}}};
  for (const auto& [field, names] : flags) {
    if (!fields.has(field)) continue;
    const auto list = fields.by_layer({field}, layers, 0);
    for (const std::int64_t flag : list) {
      if (flag > 1)
        fields.fail(fmt::format("{} has {}: expected 0 or 1 for each layer", field, flag));
    }
    return by_rule(field, layers, names.second, names.first,
                   [&](std::int64_t i) { return list[static_cast<std::size_t>(i)] != 0; });
  }
  const std::pair<const char*, bool> indices[] = {
      {"attn_layer_indices", true}, {"full_attn_idxs", true}, {"cross_attention_layers", false}};
  for (const auto& [field, are_attention] : indices) {
    const auto list = fields.numbers_if_any({field});
    if (!list) continue;
    const std::set<std::int64_t> set(list->begin(), list->end());
    if (!set.empty() && *set.rbegin() >= layers) {
      fields.fail(fmt::format("{} has layer {}: expected less than {} layers", field, *set.rbegin(),
                              layers));
    }
    const bool wanted = are_attention;
    return by_rule(field, layers, "attention", wanted ? other : "cross",
                   [&](std::int64_t i) { return set.contains(i) == wanted; });
  }
  return std::nullopt;
}

/// The names by a period.
std::optional<LayerNames> periodic(ConfigFields& fields, const Family& family,
                                   const std::string& other, std::int64_t layers) {
  if (const auto period = fields.count_if_any({"attn_layer_period"})) {
    const auto offset = fields.count_if_any({"attn_layer_offset"}, 0).value_or(0);
    return by_rule("attn_layer_period", layers, "attention", other,
                   [&](std::int64_t i) { return i % *period == offset; });
  }
  if (const auto interval = fields.count_if_any({"full_attention_interval"})) {
    return by_rule("full_attention_interval", layers, "attention", other,
                   [&](std::int64_t i) { return (i + 1) % *interval == 0; });
  }
  // Ring-linear: the last layer of each group, and those behind the last whole group.
  if (const auto group = fields.count_if_any({"layer_group_size"})) {
    return by_rule("layer_group_size", layers, "attention", other, [&](std::int64_t i) {
      return (i + 1) % *group == 0 || i >= layers / *group * *group;
    });
  }
  if (family.last_layer_is_full) {
    const auto period = fields.count({"sliding_window_pattern"});
    return by_rule("sliding_window_pattern", layers, "attention", "sliding",
                   [&](std::int64_t i) { return (i + 1) % period == 0; });
  }
  return std::nullopt;
}

LayerNames all_with_attention(std::int64_t layers) {
  return {"", std::vector<std::string>(static_cast<std::size_t>(layers), "attention")};
}

LayerNames names_of(ConfigFields& fields, const Family& family, std::int64_t layers) {
  // One of these is enough. Files give a list and the rule that made it.
  fields.know({"layer_types", "layers_block_type", "hybrid_override_pattern", "attn_type_list",
               "attn_layer_indices", "full_attn_idxs", "attn_layer_period", "attn_layer_offset",
               "full_attention_interval", "sliding_window_pattern"});
  const std::string other = family.other_layers.empty() ? "linear" : family.other_layers;
  if (auto names = listed(fields, layers)) return *names;
  if (auto names = numbered(fields, other, layers)) return *names;
  if (auto names = periodic(fields, family, other, layers)) return *names;
  if (!family.other_layers.empty()) {
    fields.fail(
        "layer_types, layers_block_type, hybrid_override_pattern, attn_type_list, full_attn_idxs "
        "or attn_layer_indices is missing: expected which layers have attention");
  }
  return all_with_attention(layers);
}

}  // namespace

Mixer mixer_named(const ConfigFields& fields, const std::string& field, const std::string& name,
                  const Family& family) {
  // Files call Mamba 2 "mamba", and newer ones any layer without attention "linear_attention".
  const bool is_other = name == "mamba" || name == "linear_attention";
  const std::string own = is_other ? family.other_layers : "";
  const std::string_view wanted = own.empty() ? std::string_view(name) : own;
  for (const NamedMixer& each : kMixers) {
    const bool is_named = std::ranges::find(each.names, wanted) != each.names.end();
    if (is_named && !wanted.empty()) return each.mixer;
  }
  fields.fail(
      fmt::format("{} has '{}': expected a layer such as full_attention, sliding_attention, "
                  "linear_attention, mamba or conv",
                  field, name));
}

std::string in_words(Mixer mixer) {
  const auto* const found = std::ranges::find(kMixers, mixer, &NamedMixer::mixer);
  return std::string(found->in_words);
}

std::vector<Layer> read_layers(ConfigFields& fields, const Family& family, std::int64_t layers,
                               std::int64_t experts, bool all_attention) {
  const LayerNames named =
      all_attention ? all_with_attention(layers) : names_of(fields, family, layers);
  const auto& names = named.names;
  const auto is_block = [](const std::string& name) { return name == "mlp" || name == "moe"; };
  const bool blocks = std::any_of(names.begin(), names.end(), is_block);
  const std::vector<bool> sparse =
      experts > 0 && !blocks ? read_sparse(fields, layers) : std::vector<bool>(names.size());
  const bool keeps_dense = family.dense_beside_experts;
  std::vector<Layer> list;
  list.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    Layer layer{.mixer = mixer_named(fields, named.field, name, family)};
    layer.experts = blocks ? name == "moe" : sparse[i];
    layer.dense = blocks ? name == "mlp" : !sparse[i] || keeps_dense;
    list.push_back(layer);
  }
  if (family.last_layer_is_full) list.back().mixer = Mixer::full;
  return list;
}

}  // namespace overlaptune
