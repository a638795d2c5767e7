#include "workload/quantization.hpp"

namespace overlaptune {
namespace {

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

std::string strategy_of(const JsonReader& group, std::string_view operand) {
  const JsonReader described = group[operand];
  return text_of(described, "strategy");
}

/// One scheme for all products. A scale for a whole weight is also one for each of its rows.
std::optional<Scales> by_compressed_tensors(const JsonReader& described) {
  if (!described.has("config_groups") || !described["config_groups"].is_object()) return {};
  const JsonReader groups = described["config_groups"];
  if (!groups.has("group_0") || groups.has("group_1")) return {};
  const JsonReader group = groups["group_0"];
  if (!is_e4m3(group, "weights") || !is_e4m3(group, "input_activations")) return {};
  const std::string weights = strategy_of(group, "weights");
  const std::string inputs = strategy_of(group, "input_activations");
  if (weights == "tensor" && inputs == "tensor") return Scales::tensor;
  if ((weights == "tensor" || weights == "channel") && (inputs == "token" || inputs == "tensor")) {
    return Scales::rows;
  }
  return {};
}

std::optional<Scales> scales_of(const JsonReader& described, const std::string& method) {
  if (method == "compressed-tensors") return by_compressed_tensors(described);
  if (method == "fbgemm_fp8") return Scales::rows;
  if (method == "modelopt") {
    const std::string algorithm = text_of(described, "quant_algo");
    if (algorithm == "FP8") return Scales::tensor;
    if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") return Scales::rows;
  }
  const bool has_blocks = described.has("weight_block_size");
  if (method == "fp8" && !has_blocks && !text_of(described, "activation_scheme").empty()) {
    return Scales::tensor;
  }
  return {};
}

}  // namespace

Quantization quantization_of(const JsonReader& described, Elements plain) {
  Quantization found{.method = text_of(described, "quant_method")};
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
