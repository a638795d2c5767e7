#include "workload/families.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/text.hpp"
#include "json/parse.hpp"

namespace overlaptune {
namespace {

struct Table {
  std::vector<Family> families{};
  std::map<std::string, std::string, std::less<>> other_products{};
  WordSet other_fields{};
  std::map<std::string, nlohmann::json, std::less<>> other_values{};
  std::vector<std::string> endings{};
  std::vector<std::string> beginnings{};
  std::map<std::string, WordSet> words{};
};

Family family_of(const nlohmann::json& row) {
  static const std::map<std::string, AttentionKind> kinds{
      {"", AttentionKind::plain},
      {"latent", AttentionKind::latent},
      {"shared_key", AttentionKind::shared_key}};
  const auto flag = [&](const char* name) { return row.value(name, false); };
  const auto text = [&](const char* name) { return row.value(name, std::string()); };
  const auto texts = [&](const char* name) { return row.value(name, std::vector<std::string>()); };
  const auto object = [&](const char* name) { return row.value(name, nlohmann::json::object()); };
  return {.types = texts("types"),
          .gated = text("mlp") != "plain",
          .attention = kinds.at(text("attention")),
          .query_gate = flag("query_gate"),
          .shares_all_reduce = flag("shares_all_reduce"),
          .dense_beside_experts = flag("dense_beside_experts"),
          .shared_expert_as_wide = flag("shared_expert_as_wide"),
          .shared_width_of_one = flag("shared_width_of_one"),
          .experts_as_wide_as_mlp = flag("experts_as_wide_as_mlp"),
          .last_layer_is_full = flag("last_layer_is_full"),
          .halved_mlp = flag("halved_mlp"),
          .causal = row.value("causal", true),
          .other_layers = text("other_layers"),
          .beside = text("beside"),
          .needs = texts("needs"),
          .passed_over = texts("passed_over"),
          .module_names = row.value("module_names", std::map<std::string, std::string>()),
          .shared_block = text("shared_block"),
          .expects = object("expects"),
          .left_out = text("left_out"),
          .not_counted = text("not_counted"),
          .defaults = object("defaults"),
          .nested_defaults = object("nested_defaults"),
          .source = row.at("source").get<std::string>(),
          .checked = row.value("checked", true)};
}

Table read_table() {
  const nlohmann::json document = parse_json(embedded_families().front().json, "families.json");
  Table table;
  for (const nlohmann::json& row : document.at("families"))
    table.families.push_back(family_of(row));
  document.at("other_products").get_to(table.other_products);
  document.at("other_fields").get_to(table.other_fields);
  document.at("other_values").get_to(table.other_values);
  document.at("other_endings").get_to(table.endings);
  document.at("other_beginnings").get_to(table.beginnings);
  document.at("words").get_to(table.words);
  return table;
}

const Table& table() {
  static const Table read = read_table();
  return read;
}

}  // namespace

const std::vector<Family>& families() {
  return table().families;
}

const Family& find_family(std::string_view model_type) {
  for (const Family& family : families()) {
    const auto& types = family.types;
    if (std::find(types.begin(), types.end(), model_type) != types.end()) return family;
  }
  static const Family unknown = family_of({{"source", ""}});
  return unknown;
}

const WordSet& word_list(const std::string& list) {
  return table().words.at(list);
}

std::string other_products(std::string_view model_type) {
  const auto found = table().other_products.find(model_type);
  return found == table().other_products.end() ? "" : found->second;
}

bool is_without_sizes(std::string_view field) {
  const Table& known = table();
  if (known.other_fields.contains(field)) return true;
  const auto ends = [&](const std::string& ending) { return field.ends_with(ending); };
  const auto begins = [&](const std::string& beginning) { return field.starts_with(beginning); };
  return std::any_of(known.endings.begin(), known.endings.end(), ends) ||
         std::any_of(known.beginnings.begin(), known.beginnings.end(), begins);
}

bool changes_nothing(std::string_view field, const nlohmann::json& value) {
  const auto found = table().other_values.find(field);
  return found != table().other_values.end() && found->second == value;
}

std::string plain_letters(std::string_view name) {
  std::string plain = lower_case(std::string(name));
  std::erase_if(plain, [](unsigned char c) { return std::isalnum(c) == 0; });
  return plain;
}

bool speaks_of_layers(std::string_view field) {
  const std::string letters = plain_letters(field);
  const WordSet& parts = word_list("parts_of_names");
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return letters.find(part) != std::string::npos;
  });
}

}  // namespace overlaptune
