#include "workload/families.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

/// Parts of names, in small letters without underscores, so that "numHeads" is found, too.
constexpr std::array<std::string_view, 46> kPartsOfNames{
    "layer",  "head",   "expert",  "moe",         "attn",     "attention",     "kv",     "mlp",
    "ffn",    "ffdim",  "hidden",  "inner",       "interm",   "dim",           "width",  "depth",
    "size",   "mamba",  "ssm",     "conv",        "linear",   "recur",         "block",  "pattern",
    "hybrid", "loop",   "utsteps", "sparse",      "rank",     "gate",          "shared", "activ",
    "topk",   "glu",    "ffmult",  "feedforward", "group",    "mixer",         "cycle",  "iterat",
    "repeat", "passes", "every",   "expan",       "residual", "encoderdecoder"};

struct Table {
  std::vector<Family> families{};
  std::map<std::string, std::string, std::less<>> other_products{};
  std::set<std::string, std::less<>> other_fields{};
  std::map<std::string, nlohmann::json, std::less<>> other_values{};
  std::vector<std::string> endings{};
  std::vector<std::string> beginnings{};
};

AttentionKind attention_named(const JsonReader& at) {
  const std::string name = at.text();
  if (name == "latent") return AttentionKind::latent;
  if (name != "shared_key") at.fail("expected latent or shared_key");
  return AttentionKind::shared_key;
}

std::vector<std::string> texts(const JsonReader& row, const char* name) {
  if (!row.has(name)) return {};
  return row[name].list([](const JsonReader& element) { return element.text(); });
}

Family family_of(const JsonReader& row, const nlohmann::json& json) {
  const auto flag = [&](const char* name) { return row.has(name) && row[name].boolean(); };
  const auto text = [&](const char* name) { return row.has(name) ? row[name].text() : ""; };
  return {
      .types = texts(row, "types"),
      .gated = text("mlp") != "plain",
      .attention = row.has("attention") ? attention_named(row["attention"]) : AttentionKind::plain,
      .query_gate = flag("query_gate"),
      .shares_all_reduce = flag("shares_all_reduce"),
      .dense_beside_experts = flag("dense_beside_experts"),
      .shared_expert_as_wide = flag("shared_expert_as_wide"),
      .shared_width_of_one = flag("shared_width_of_one"),
      .experts_as_wide_as_mlp = flag("experts_as_wide_as_mlp"),
      .last_layer_is_full = flag("last_layer_is_full"),
      .halved_mlp = flag("halved_mlp"),
      .causal = !row.has("causal") || row["causal"].boolean(),
      .other_layers = text("other_layers"),
      .beside = text("beside"),
      .needs = texts(row, "needs"),
      .passed_over = texts(row, "passed_over"),
      .module_names = json.value("module_names", std::map<std::string, std::string>{}),
      .shared_block = text("shared_block"),
      .expects = json.value("expects", nlohmann::json::object()),
      .left_out = text("left_out"),
      .not_counted = text("not_counted"),
      .defaults = json.value("defaults", nlohmann::json::object()),
      .nested_defaults = json.value("nested_defaults", nlohmann::json::object()),
      .source = row["source"].text(),
      .checked = !row.has("checked") || row["checked"].boolean()};
}

Table read_table() {
  const nlohmann::json document = parse_json(embedded_families().front().json, "families.json");
  const JsonReader root(document, "families.json");
  Table table;
  const auto& rows = document.at("families");
  const JsonReader list = root["families"];
  list.each([&](const JsonReader& row) {
    table.families.push_back(family_of(row, rows[table.families.size()]));
  });
  for (const auto& [type, why] : document.at("other_products").items()) {
    table.other_products.emplace(type, why.get<std::string>());
  }
  for (const std::string& field : texts(root, "other_fields")) table.other_fields.insert(field);
  for (const auto& [field, value] : document.at("other_values").items()) {
    table.other_values.emplace(field, value);
  }
  table.endings = texts(root, "other_endings");
  table.beginnings = texts(root, "other_beginnings");
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
  static const Family unknown{.expects = nlohmann::json::object(),
                              .defaults = nlohmann::json::object(),
                              .nested_defaults = nlohmann::json::object()};
  return unknown;
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
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

bool speaks_of_layers(std::string_view field) {
  const std::string letters = plain_letters(field);
  return std::any_of(kPartsOfNames.begin(), kPartsOfNames.end(), [&](std::string_view part) {
    return letters.find(part) != std::string::npos;
  });
}

}  // namespace overlaptune
