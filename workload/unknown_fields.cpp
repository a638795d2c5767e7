// Fields that nobody reads, and where the language model stands.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/config_parts.hpp"

namespace overlaptune {
namespace {

constexpr std::array<const char*, 5> kNestings{"thinker_config", "text_config", "llm_config",
                                               "language_config", "llm"};
constexpr std::size_t kMostDepth = 3;
constexpr std::size_t kLongestName = 80;
constexpr std::size_t kMostNamed = 40;  // fields in one sentence

/// Fields that are read wherever they stand.
constexpr std::array<const char*, 6> kAtAnyLevel{
    "torch_dtype", "dtype", "model_type", "tie_word_embeddings", "vocab_size", "tie_embedding"};

bool is_at_any_level(const std::string& name) {
  return std::find(kAtAnyLevel.begin(), kAtAnyLevel.end(), name) != kAtAnyLevel.end();
}

const char* nested_in(const nlohmann::json& object) {
  for (const char* name : kNestings) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_object()) return name;
  }
  return nullptr;
}

/// Collects the fields of a document that nobody reads.
class Search {
 public:
  Search(const nlohmann::json& language, const ConfigFields& fields)
      : language_(language), fields_(fields) {}

  /// `place` is the path of `object`: "text_config."; the field `next` leads further in.
  void look_through(const nlohmann::json& object, const std::string& place,
                    const std::string& next) {
    const bool own = &object == &language_;
    for (const auto& [name, value] : object.items()) {
      if (!value.is_null() && name != next && !is_read(name, own)) judge(place, name, value, own);
    }
  }
  [[nodiscard]] UnknownFields found() { return std::move(unknown_); }

 private:
  /// Above the language model, a field that it has itself says the same, or is of another part.
  [[nodiscard]] bool is_read(const std::string& name, bool own) const {
    return fields_.was_asked(name) && (own || language_.contains(name) || is_at_any_level(name));
  }
  void judge(const std::string& place, const std::string& name, const nlohmann::json& value,
             bool own) {
    if (changes_nothing(name, value)) return;
    const bool known = is_without_sizes(name) && !fields_.was_asked(name);
    if (known && value.is_object()) add_misplaced(place + name + ".", value);
    // Images and audio have fields of their own above the language model.
    const bool counts =
        own || value.is_object() || fields_.was_asked(name) || speaks_of_layers(name);
    if (!known && counts) add(place, name, value);
  }
  /// Adds an unknown field: its name, or those of the fields within it that layers have.
  void add(const std::string& place, const std::string& name, const nlohmann::json& value) {
    const std::string own = place + one_line(name, kLongestName);
    const std::size_t before = unknown_.of_layers.size();
    if (value.is_object()) {
      for (const auto& [inner, unused] : value.items()) {
        if (!fields_.was_asked(inner) && !speaks_of_layers(inner)) continue;
        unknown_.of_layers.push_back(own + "." + one_line(inner, kLongestName));
      }
    }
    if (unknown_.of_layers.size() > before) return;
    (speaks_of_layers(name) ? unknown_.of_layers : unknown_.others).push_back(own);
  }
  /// Adds fields of a part that is skipped, as of images, which the language model lacks. Where its
  /// class has a default, the answer says it.
  void add_misplaced(const std::string& place, const nlohmann::json& part) {
    for (const auto& [name, unused] : part.items()) {
      if (!fields_.was_asked(name) || language_.contains(name)) continue;
      if (fields_.has_default(name)) continue;
      if (is_without_sizes(name) || is_at_any_level(name)) continue;
      unknown_.of_layers.push_back(place + name);
    }
  }

  const nlohmann::json& language_;
  const ConfigFields& fields_;
  UnknownFields unknown_{};
};

/// Whether a part of a config may be one of its language model.
bool may_have_layers(const nlohmann::json& value) {
  if (!value.is_object()) return false;
  const auto fields = value.items();
  return std::any_of(fields.begin(), fields.end(), [](const auto& field) {
    return field.value().is_object() || speaks_of_layers(field.key());
  });
}

}  // namespace

Nesting find_language_model(const nlohmann::json& document) {
  Nesting nesting;
  while (nesting.size() < kMostDepth) {
    const char* const name = nested_in(language_model(document, nesting));
    if (name == nullptr) break;
    nesting.emplace_back(name);
  }
  return nesting;
}

const nlohmann::json& language_model(const nlohmann::json& document, const Nesting& nesting) {
  const nlohmann::json* object = &document;
  for (const std::string& name : nesting) object = &object->at(name);
  return *object;
}

UnknownFields unknown_fields(const nlohmann::json& document, const Nesting& nesting,
                             const ConfigFields& fields) {
  Search search(language_model(document, nesting), fields);
  const nlohmann::json* object = &document;
  std::string place;
  for (const std::string& next : nesting) {
    search.look_through(*object, place, next);
    place += next + ".";
    object = &object->at(next);
  }
  search.look_through(*object, place, "");
  return search.found();
}

std::string names_in(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > kMostNamed) names.resize(kMostNamed);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (all > kMostNamed) text += fmt::format(" and {} more", all - kMostNamed);
  return text;
}

std::string why_missing(const nlohmann::json& model, const std::string& type,
                        const Family& family) {
  std::string why;
  if (type.empty()) {
    why = "; model_type is missing";
  } else if (!family.is_known()) {
    why = fmt::format("; model_type '{}' is not known", one_line(type, kLongestName));
  }
  std::vector<std::string> parts;
  for (const auto& [name, value] : model.items()) {
    if (may_have_layers(value)) parts.push_back(one_line(name, kLongestName));
  }
  if (!parts.empty()) why += fmt::format("; not looked into: {}", names_in(std::move(parts)));
  return why;
}

}  // namespace overlaptune
