#include "workload/quantization.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "json/reader.hpp"
#include "workload/families.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestName = 60;

/// Methods whose fields are known (families.json): those that are read, or that say nothing of the
/// products.
constexpr std::string_view kKnownMethods[] = {"compressed-tensors", "fp8", "fbgemm_fp8",
                                              "modelopt"};

/// Whether a field has a value. Published files have empty objects for what they do not use.
bool is_given(const JsonReader& object, const std::string& name) {
  if (!object.has(name)) return false;
  const JsonReader value = object[name];
  if (value.is_object()) return !value.field_names().empty();
  if (!value.is_array()) return true;
  bool any = false;
  value.each([&](const JsonReader&) { any = true; });
  return any;
}

/// Adds the fields of an object that have a value and are in none of the lists (`word_list`).
void add_unknown(const JsonReader& object, const std::string& place,
                 std::initializer_list<std::string> known, std::vector<std::string>& found) {
  for (const std::string& name : object.field_names()) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const std::string& list) {
      return word_list(list).contains(name);
    });
    if (!is_known && is_given(object, name)) found.push_back(place + one_line(name, kLongestName));
  }
}

std::vector<std::string> unknown_fields_of(const JsonReader& described, const std::string& method) {
  std::vector<std::string> found;
  if (std::ranges::find(kKnownMethods, method) != std::end(kKnownMethods)) {
    add_unknown(described, "", {"fields_of_quantization", "fields_of_" + method}, found);
  }
  if (!described.has("config_groups") || !described["config_groups"].is_object()) return found;
  const JsonReader groups = described["config_groups"];
  for (const std::string& name : groups.field_names()) {
    const JsonReader group = groups[name];
    if (!group.is_object()) continue;
    const std::string place = "config_groups." + one_line(name, kLongestName) + ".";
    add_unknown(group, place, {"fields_of_group"}, found);
    for (const char* operand : {"weights", "input_activations"}) {
      if (!group.has(operand) || !group[operand].is_object()) continue;
      add_unknown(group[operand], place + operand + ".", {"fields_of_operand"}, found);
    }
  }
  return found;
}

/// The text of a field; empty where there is none, or no text.
std::string text_of(const JsonReader& object, std::string_view field) {
  if (!object.is_object() || !object.has(field)) return {};
  const JsonReader value = object[field];
  return value.is_text() ? value.text() : std::string();
}

bool is_e4m3(const JsonReader& group, std::string_view operand) {
  if (!group.is_object() || !group.has(operand)) return false;
  const JsonReader described = group[operand];
  if (text_of(described, "type") != "float" || !described.has("num_bits")) return false;
  return described["num_bits"].is_integer(8, 8);
}

/// The scheme of one group. A scale for a whole weight is also one for each of its rows.
std::optional<Scales> scales_of_group(const JsonReader& group) {
  if (!is_e4m3(group, "weights") || !is_e4m3(group, "input_activations")) return {};
  const std::string weights = text_of(group["weights"], "strategy");
  const std::string inputs = text_of(group["input_activations"], "strategy");
  if (weights == "tensor" && inputs == "tensor") return Scales::tensor;
  if ((weights == "tensor" || weights == "channel") && (inputs == "token" || inputs == "tensor")) {
    return Scales::rows;
  }
  return {};
}

/// The scheme of all products. None: groups of several schemes.
std::optional<Scales> by_compressed_tensors(const JsonReader& described) {
  if (!described.has("config_groups") || !described["config_groups"].is_object()) return {};
  const JsonReader groups = described["config_groups"];
  std::optional<Scales> all;
  for (const std::string& name : groups.field_names()) {
    const auto scales = scales_of_group(groups[name]);
    if (!scales || (all && all != scales)) return {};
    all = scales;
  }
  return all;
}

/// Scales of vLLM's method, by the values that its class takes. Other formats than e4m3 have no
/// kernel here.
std::optional<Scales> by_fp8(const JsonReader& described) {
  constexpr std::array<std::string_view, 4> kFormats{"e4m3", "e4m3fn", "float8_e4m3fn",
                                                     "float8_e4m3"};
  if (described.has("weight_block_size")) return {};
  if (described.has("fmt")) {
    const std::string format = text_of(described, "fmt");
    if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) return {};
  }
  const std::string activations = text_of(described, "activation_scheme");
  if (activations != "static" && activations != "dynamic") return {};
  return Scales::tensor;
}

std::optional<Scales> by_modelopt(const JsonReader& described) {
  const std::string algorithm = text_of(described, "quant_algo");
  if (algorithm == "FP8") return Scales::tensor;
  if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") return Scales::rows;
  return {};
}

std::optional<Scales> scales_of(const JsonReader& described, const std::string& method) {
  if (method == "compressed-tensors") return by_compressed_tensors(described);
  if (method == "fbgemm_fp8") return Scales::rows;
  if (method == "modelopt") return by_modelopt(described);
  if (method == "fp8") return by_fp8(described);
  return {};
}

/// How many weights of a group stay, as compressed-tensors says it: "2:4".
std::string sparsity_of(const JsonReader& described) {
  if (!is_given(described, "sparsity_config")) return {};
  const JsonReader sparse = described["sparsity_config"];
  if (text_of(sparse, "format") == "dense") return {};
  const std::string structure = text_of(sparse, "sparsity_structure");
  return structure.empty() ? "of a structure that is not said" : one_line(structure, kLongestName);
}

}  // namespace

Quantization quantization_of(const JsonReader& described, Elements plain) {
  Quantization found{.method = text_of(described, "quant_method"),
                     .sparsity = sparsity_of(described)};
  found.unknown_fields = unknown_fields_of(described, found.method);
  const auto scales = scales_of(described, found.method);
  if (found.method.empty()) found.method = "method not said";
  if (!scales) return found;
  for (const ElementsTraits& row : kElements) {
    const bool fits = row.operand == Dtype::e4m3 && row.scales == *scales && !row.exact;
    if (fits && row.result == result_of(plain)) found.elements = row.elements;
  }
  return found;
}

}  // namespace overlaptune
