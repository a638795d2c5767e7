#pragma once
// The families of models whose layers are known (families.json). A family says what config.json
// leaves to the class of the model: the gate of its MLP, the kind of its attention, defaults.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune {

/// How a layer makes queries, keys and values.
enum class AttentionKind {
  plain,      ///< by one projection of the hidden states
  latent,     ///< through low-rank factors (DeepSeek-V2's MLA)
  shared_key  ///< queries through a low-rank factor, one key for all heads, which is the value,
              ///< too; a grouped low-rank output (DeepSeek-V4)
};

/// families.json as a part of the program.
struct EmbeddedFamilies {
  std::string name;
  std::string json;
};

/// One entry: the file.
[[nodiscard]] const std::vector<EmbeddedFamilies>& embedded_families();

struct Family {
  std::vector<std::string> types{};  ///< values of `model_type`
  bool gated = true;                 ///< the MLP has a gate beside `up`
  AttentionKind attention = AttentionKind::plain;
  bool query_gate = false;              ///< the projection of q also makes a gate of its width
  bool shares_all_reduce = false;       ///< attention and MLP of a layer read the same input
  bool dense_beside_experts = false;    ///< a layer with experts has a dense MLP, too
  bool shared_expert_as_wide = false;   ///< one shared expert, as wide as the others
  bool shared_width_of_one = false;     ///< a width of shared experts is that of each of them
  bool experts_as_wide_as_mlp = false;  ///< intermediate_size is also the width of experts
  bool last_layer_is_full = false;      ///< whatever the pattern of window layers says
  bool halved_mlp = false;              ///< intermediate_size counts gate and up
  bool causal = true;                   ///< a token attends to those before it only
  std::string other_layers{};           ///< what the layers without attention are: "mamba2"
  std::string beside{};                 ///< what each layer has beside its attention: "mamba2"
  std::vector<std::string> needs{};     ///< fields without which the layers are not known
  /// Fields that say nothing of the products, though their names speak of layers.
  std::vector<std::string> passed_over{};
  /// Names of modules that mean those of another class: {"w2": "gate_proj"}.
  std::map<std::string, std::string> module_names{};
  std::string shared_block{};  ///< the module of shared experts, if not "shared_experts"
  nlohmann::json expects{};    ///< values without which the layers have other products
  std::string left_out{};      ///< a sentence about parts that have no product here
  std::string not_counted{};   ///< parts whose weights are not counted
  nlohmann::json defaults{};   ///< what the class has where config.json leaves it out
  /// Further ones, for a config within that of a multimodal model: transformers writes only what
  /// differs from the class there, and all sizes in a file of its own.
  nlohmann::json nested_defaults{};
  std::string source{};  ///< files of huggingface/transformers below src/transformers, or of other
                         ///< repositories and models: "organisation/model: file"
  bool checked = true;   ///< its defaults were compared with the source

  /// Whether it is in the table.
  [[nodiscard]] bool is_known() const { return !types.empty(); }
};

[[nodiscard]] const std::vector<Family>& families();

/// A family that is not known where the type is not in the table.
[[nodiscard]] const Family& find_family(std::string_view model_type);

using WordSet = std::set<std::string, std::less<>>;

/// A list of words in families.json: `parts_of_names` of fields that speak of layers, in small
/// letters without underscores, so that "numHeads" is found, too; those of modules, for
/// module_names.cpp; `fields_of_...` of notes on quantisation.
[[nodiscard]] const WordSet& word_list(const std::string& list);

/// Why the layers of a type are none of ours; empty where they may be.
[[nodiscard]] std::string other_products(std::string_view model_type);

/// Whether a field says nothing about the sizes of a layer: names of tokens, dropout, norms.
[[nodiscard]] bool is_without_sizes(std::string_view field);

/// Whether a field has the value with which it changes no layer: `add_cross_attention` = false.
[[nodiscard]] bool changes_nothing(std::string_view field, const nlohmann::json& value);

/// The letters and digits of a name, in small letters.
[[nodiscard]] std::string plain_letters(std::string_view name);

/// Whether the name of a field speaks of layers, heads, experts, widths or activations.
[[nodiscard]] bool speaks_of_layers(std::string_view field);

}  // namespace overlaptune
