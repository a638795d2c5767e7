// The class of a model beside its type.

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "json/reader.hpp"
#include "workload/config_parts.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestName = 60;

/// Letters and digits, small, up to the words that classes end in: "LlamaForCausalLM" is "llama".
std::string plain_name(std::string_view name) {
  for (const std::string_view end : {"For", "LMHead", "Model"}) {
    if (const auto at = name.find(end); at != std::string_view::npos && at > 0) {
      name = name.substr(0, at);
    }
  }
  return plain_letters(name);
}

/// Whether some family has a class of this name, and the type at hand is another one.
bool is_of_another_family(const std::string& architecture, const std::string& model_type) {
  const std::string name = plain_name(architecture);
  if (name == plain_name(model_type)) return false;
  const auto is_named = [&](const std::string& type) { return plain_name(type) == name; };
  const auto has_name = [&](const Family& family) {
    return std::any_of(family.types.begin(), family.types.end(), is_named);
  };
  return !has_name(find_family(model_type)) &&
         std::any_of(families().begin(), families().end(), has_name);
}

}  // namespace

std::string class_of(const nlohmann::json& document) {
  const auto found = document.find("architectures");
  if (found == document.end() || !found->is_array() || found->empty()) return {};
  return found->front().is_string() ? found->front().get<std::string>() : "";
}

void say_architecture(const nlohmann::json& document, ModelConfig& config) {
  const std::string name = one_line(class_of(document), kLongestName);
  if (name.empty() || config.model_type.empty()) return;
  // A class of images and text, such as Mistral 3, may have a language model of any family.
  const auto own = document.find("model_type");
  const bool is_own = own != document.end() && own->is_string() &&
                      plain_name(own->get<std::string>()) == plain_name(name);
  if (is_own || !is_of_another_family(name, config.model_type)) return;
  config.assumptions.push_back(
      fmt::format("architectures says {}, model_type says {}: the layers of the type are taken",
                  name, one_line(config.model_type, kLongestName)));
}

}  // namespace overlaptune
