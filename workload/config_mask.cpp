// To which tokens attention looks.

#include <string>

#include "workload/config_parts.hpp"

namespace overlaptune {
namespace {

bool says(const nlohmann::json& object, const char* name, const nlohmann::json& value) {
  const auto found = object.find(name);
  return found != object.end() && *found == value;
}

/// Whether the class is one of encoders: BertForMaskedLM, SiglipEncoderModel,
/// LlamaBidirectionalModel.
bool is_class_of_encoders(const nlohmann::json& document) {
  const std::string name = class_of(document);
  return name.ends_with("ForMaskedLM") || name.ends_with("EncoderModel") ||
         name.find("Bidirectional") != name.npos;
}

/// Whether a mask hides the tokens behind each one: what the file says goes before the family.
bool is_causal(const nlohmann::json& document, const nlohmann::json& model, const Family& family) {
  if (says(model, "is_causal", false) || says(model, "use_bidirectional_attention", true) ||
      says(model, "use_bidirectional_attention", "all")) {
    return false;
  }
  if (says(model, "is_causal", true) || says(model, "is_decoder", true)) return true;
  return family.causal && !is_class_of_encoders(document);
}

}  // namespace

std::int64_t first_positive(const nlohmann::json& object, ConfigFields::Names names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) continue;
    if (const auto value = found->get<std::int64_t>(); value > 0) return value;
  }
  return 0;
}

void read_mask(const nlohmann::json& document, const Nesting& nesting, const Family& family,
               ModelConfig& config) {
  const nlohmann::json& model = language_model(document, nesting);
  config.causal = is_causal(document, model, family);
  // The window that cuts attention off in some layers, if any.
  if (says(model, "use_sliding_window", false)) return;
  config.window = first_positive(model, {"sliding_window", "attention_chunk_size",
                                         "attention_window_size", "local_attention"});
}

}  // namespace overlaptune
