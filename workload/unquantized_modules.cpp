#include "workload/unquantized_modules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {
namespace {

constexpr std::size_t kLongestEntry = 60;

/// A linear module of a layer, and the product that computes it.
struct Module {
  std::string_view block;  ///< "attention", "dense", "shared" or "experts"
  std::string_view name;
  Product product;
};

constexpr std::array<Module, 13> kModules{{{"attention", "q_proj", Product::qkv},
                                           {"attention", "k_proj", Product::qkv},
                                           {"attention", "v_proj", Product::qkv},
                                           {"attention", "o_proj", Product::o},
                                           {"dense", "gate_proj", Product::gate_up},
                                           {"dense", "up_proj", Product::gate_up},
                                           {"dense", "down_proj", Product::down},
                                           {"shared", "gate_proj", Product::shared_gate_up},
                                           {"shared", "up_proj", Product::shared_gate_up},
                                           {"shared", "down_proj", Product::shared_down},
                                           {"experts", "gate_proj", Product::experts_gate_up},
                                           {"experts", "up_proj", Product::experts_gate_up},
                                           {"experts", "down_proj", Product::experts_down}}};

/// Names of one module that stand for others.
struct Fused {
  std::string_view name;
  std::array<std::string_view, 3> modules;
};

constexpr std::array<Fused, 2> kFused{
    {{"qkv_proj", {"q_proj", "k_proj", "v_proj"}}, {"gate_up_proj", {"gate_proj", "up_proj"}}}};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Blocks that a word names; none where it names no block.
std::vector<std::string_view> blocks_of(std::string_view word) {
  constexpr std::array<std::string_view, 4> kMlps{"mlp", "feed_forward", "block_sparse_moe", "moe"};
  constexpr std::array<std::string_view, 3> kShared{"shared_expert", "shared_experts",
                                                    "shared_mlp"};
  if (word == "self_attn" || word == "self_attention" || word == "attn") return {"attention"};
  if (is_one_of(word, kShared)) return {"shared"};
  if (word == "experts") return {"experts"};
  if (is_one_of(word, kMlps)) return {"dense", "shared", "experts"};
  return {};
}

/// Whether a word names a module that has no product here: the output projection, a router, parts
/// for images.
bool is_elsewhere(std::string_view word) {
  constexpr std::array<std::string_view, 13> kElsewhere{
      "lm_head",     "embed_tokens", "embed_out",          "router",  "gate",    "mtp",
      "linear_attn", "mamba",        "shared_expert_gate", "indexer", "eh_proj", "conv1d",
      "shared_head"};
  return is_one_of(word, kElsewhere) || word.starts_with("vision") || word.starts_with("visual") ||
         word.starts_with("audio") || word.find("projector") != word.npos ||
         word.find("norm") != word.npos;
}

std::vector<std::string> words_of(const std::string& entry) {
  std::vector<std::string> words(1);
  for (const char c : entry) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool is_number(const std::string& word) {
  constexpr std::size_t kMostDigits = 6;
  return !word.empty() && word.size() <= kMostDigits &&
         word.find_first_not_of("0123456789") == word.npos;
}

/// Modules that an entry names, in one layer or in all.
struct Named {
  std::vector<std::size_t> modules{};  ///< indices of `kModules`
  std::optional<int> layer{};
};

/// None: the entry has another form, or names no module that is known.
std::optional<Named> read_entry(const std::string& entry) {
  if (entry.find_first_of("|[?") != entry.npos) return std::nullopt;  // one of several, or none
  std::vector<std::string_view> blocks;
  std::vector<std::string_view> names;
  Named named;
  std::string_view before;
  const auto words = words_of(entry);
  for (const std::string& word : words) {
    if (is_elsewhere(word)) return Named{};
    if (is_number(word)) {
      if (before == "experts") return std::nullopt;  // one of them
      if (before == "layers" || before == "blocks" || before == "h") named.layer = std::stoi(word);
    }
    if (const auto found = blocks_of(word); !found.empty()) blocks = found;
    for (const Module& module : kModules) {
      if (module.name == word) names.push_back(module.name);
    }
    for (const Fused& fused : kFused) {
      if (fused.name == word) names.insert(names.end(), fused.modules.begin(), fused.modules.end());
    }
    before = word;
  }
  if (blocks.empty() && names.empty()) return std::nullopt;
  const auto has = [](const auto& list, std::string_view wanted) {
    return list.empty() || std::find(list.begin(), list.end(), wanted) != list.end();
  };
  for (std::size_t i = 0; i < kModules.size(); ++i) {
    const Module& module = kModules.at(i);
    if (has(blocks, module.block) && has(names, module.name)) named.modules.push_back(i);
  }
  return named;
}

/// In which layers each module stays as it is.
struct Counts {
  std::set<std::size_t> everywhere{};
  std::map<std::size_t, std::set<int>> layers{};

  void add(const Named& named) {
    for (const std::size_t module : named.modules) {
      if (named.layer) {
        layers[module].insert(*named.layer);
      } else {
        everywhere.insert(module);
      }
    }
  }
};

std::vector<std::string> texts(const JsonReader& object, const char* field) {
  std::vector<std::string> list;
  if (!object.is_object() || !object.has(field)) return list;
  const JsonReader entries = object[field];
  if (entries.shown() != "array") return list;
  entries.each([&](const JsonReader& entry) {
    if (entry.is_text()) list.push_back(entry.text());
  });
  return list;
}

/// The targets of the one group of compressed-tensors; none where they are all linear modules.
std::vector<std::string> targets_of(const JsonReader& described) {
  if (!described.has("config_groups") || !described["config_groups"].is_object()) return {};
  const JsonReader groups = described["config_groups"];
  if (!groups.has("group_0")) return {};
  const JsonReader group = groups["group_0"];
  auto targets = texts(group, "targets");
  const bool all = std::find(targets.begin(), targets.end(), "Linear") != targets.end();
  return all ? std::vector<std::string>() : targets;
}

std::int64_t layers_with(std::string_view block, const ModelConfig& config) {
  if (block == "shared" && config.shared_intermediate == 0) return 0;
  if (block == "shared" || block == "experts") return config.expert_layers;
  std::int64_t layers = 0;
  if (block == "attention") {
    for (const AttentionLayers& each : attention_of(config)) layers += each.layers;
  } else {
    for (const DenseLayers& each : dense_of(config)) layers += each.layers;
  }
  return layers;
}

/// Sums up the modules of each product.
void sum_up(const Counts& counts, const ModelConfig& config, UnquantizedModules& found) {
  std::map<Product, std::vector<std::size_t>> products;
  for (std::size_t i = 0; i < kModules.size(); ++i) products[kModules.at(i).product].push_back(i);
  for (const auto& [product, modules] : products) {
    const std::int64_t all = layers_with(kModules.at(modules.front()).block, config);
    if (all == 0 || (config.latent_attention && product == Product::qkv)) continue;
    std::vector<std::string_view> whole;
    std::size_t parts = 0;
    std::int64_t most = 0;
    for (const std::size_t module : modules) {
      if (!config.gated && kModules.at(module).name == "gate_proj") continue;
      ++parts;
      const auto listed = counts.layers.find(module);
      const std::int64_t some = listed == counts.layers.end() ? 0 : std::ssize(listed->second);
      if (counts.everywhere.contains(module) || some >= all) {
        whole.push_back(kModules.at(module).name);
      }
      most = std::max(most, some);
    }
    const bool plain_up = product == Product::gate_up && !config.gated;
    const Product own = plain_up ? Product::up : product;
    if (whole.size() == parts) {
      found.products.insert(own);
      if (product == Product::experts_down) found.products.insert(Product::combine);
    } else if (!whole.empty()) {
      found.partly.push_back(fmt::format("{} ({} only)", to_string(own), fmt::join(whole, ", ")));
    } else if (most > 0) {
      found.partly.push_back(fmt::format("{} ({} of {} layers)", to_string(own), most, all));
    }
  }
}

}  // namespace

UnquantizedModules unquantized_modules(const JsonReader& described, const ModelConfig& config) {
  UnquantizedModules found;
  const auto read = [&](const std::vector<std::string>& entries, Counts& counts) {
    for (const std::string& entry : entries) {
      if (const auto named = read_entry(entry)) {
        counts.add(*named);
      } else {
        found.unread.push_back(one_line(entry, kLongestEntry));
      }
    }
  };
  Counts kept;
  for (const char* list :
       {"ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules"}) {
    read(texts(described, list), kept);
  }
  if (const auto targets = targets_of(described); !targets.empty()) {
    const std::size_t unread = found.unread.size();
    Counts quantized;
    read(targets, quantized);
    for (std::size_t i = 0; i < kModules.size(); ++i) {
      const bool is_target = quantized.everywhere.contains(i) || quantized.layers.contains(i);
      if (found.unread.size() == unread && !is_target) kept.everywhere.insert(i);
    }
  }
  sum_up(kept, config, found);
  return found;
}

}  // namespace overlaptune
