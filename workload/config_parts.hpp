#pragma once
// The parts of a config.json, each of which fills its fields of a `ModelConfig`. All throw
// `Failure` for fields that are missing or wrong.

#include <algorithm>
#include <string>
#include <vector>

#include "workload/config_fields.hpp"
#include "workload/config_layers.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

/// Heads, latent ranks, and the groups of layers with other attention. `config` has `hidden`.
void read_attention(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
                    ModelConfig& config);

/// The number of experts; 0 for a dense model.
[[nodiscard]] std::int64_t read_expert_count(ConfigFields& fields, const Family& family,
                                             std::int64_t layers);

/// Widths of dense MLPs and of experts. `config` has `experts` and the key projections.
/// `assume_dense`: experts of a type that is not known are as wide as its dense MLPs where the file
/// has no width for them.
void read_mlp(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
              bool assume_dense, ModelConfig& config);

/// Layers and parts that have no product, with the weights of each. `config` has all else.
void read_other_layers(ConfigFields& fields, const Family& family, const std::vector<Layer>& layers,
                       ModelConfig& config);

/// Where the config of the language model is within that of a multimodal one: names of fields,
/// outermost first. Empty: the file itself.
using Nesting = std::vector<std::string>;

[[nodiscard]] Nesting find_language_model(const nlohmann::json& document);

/// The object that a nesting leads to.
[[nodiscard]] const nlohmann::json& language_model(const nlohmann::json& document,
                                                   const Nesting& nesting);

/// The class of the model, the first of `architectures`; empty where the file names none.
[[nodiscard]] std::string class_of(const nlohmann::json& document);

/// The first of some fields that is a whole number above 0; 0 where none is.
[[nodiscard]] std::int64_t first_positive(const nlohmann::json& object, ConfigFields::Names names);

/// To which tokens attention looks: those before each one or all, in a window or not.
void read_mask(const nlohmann::json& document, const Nesting& nesting, const Family& family,
               ModelConfig& config);

/// Says it where the class is that of another family than the type.
void say_architecture(const nlohmann::json& document, ModelConfig& config);

/// Why a size may be missing: its class may have a default, or it stands in a part of another name.
[[nodiscard]] std::string why_missing(const nlohmann::json& model, const std::string& type,
                                      const Family& family);

/// "a, b, c and 7 more".
[[nodiscard]] std::string names_in(std::vector<std::string> names);

/// Counts a layer in the group of its sizes. `sizes` has no layers.
template <class Group>
void count_layer(std::vector<Group>& groups, const Group& sizes) {
  auto group = std::find_if(groups.begin(), groups.end(), [&](Group each) {
    each.layers = 0;
    return each == sizes;
  });
  if (group == groups.end()) group = groups.insert(group, sizes);
  ++group->layers;
}

/// Those of most layers first.
template <class Group>
void sort_by_layers(std::vector<Group>& groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.layers > b.layers; });
}

/// Names of fields that are not known: those that speak of layers, then the others.
struct UnknownFields {
  std::vector<std::string> of_layers{};
  std::vector<std::string> others{};
};

/// Fields that nobody read: those of the language model, and in the objects around it those that
/// the model should have.
[[nodiscard]] UnknownFields unknown_fields(const nlohmann::json& document, const Nesting& nesting,
                                           const ConfigFields& fields);

}  // namespace overlaptune
