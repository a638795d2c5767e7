#include "workload/unquantized_modules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/families.hpp"
#include "workload/module_names.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestEntry = 60;

/// The entries of a list of modules.
std::vector<std::string> entries_of(const JsonReader& object, const char* field) {
  if (!object.has(field)) return {};
  const JsonReader list = object[field];
  if (list.is_text()) return {list.text()};
  if (!list.is_array()) list.fail("expected a list of names of modules");
  return list.list([](const JsonReader& entry) { return entry.text(); });
}

/// The targets of all groups of compressed-tensors; none where one has all linear modules.
std::vector<std::string> targets_of(const JsonReader& described) {
  if (!described.has("config_groups") || !described["config_groups"].is_object()) return {};
  const JsonReader groups = described["config_groups"];
  std::vector<std::string> all;
  for (const std::string& name : groups.field_names()) {
    const JsonReader group = groups[name];
    const auto targets = entries_of(group, "targets");
    const bool has_linear = std::find(targets.begin(), targets.end(), "Linear") != targets.end();
    if (targets.empty() || has_linear) return {};
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

/// Whether a layer has the modules of a block.
bool has(const Layer& layer, Block block, const ModelConfig& config) {
  switch (block) {
    case Block::attention:
      return is_attention(layer.mixer);
    case Block::dense:
      return layer.dense;
    case Block::shared:
      return layer.experts && config.shared_intermediate > 0;
    case Block::experts:
      return layer.experts;
  }
  return false;
}

/// Which layers' modules a list names, among those that the layers have.
class Marks {
 public:
  Marks(const NumberedLayers& layers, const ModelConfig& config)
      : layers_(layers), config_(config) {
    for (auto& module : marked_) module.resize(layers.layers.size());
  }

  /// False: no layer that the entry is for has any of the modules.
  [[nodiscard]] bool add(const NamedModules& named) {
    if (named.modules.empty()) return true;
    const auto all = std::ssize(layers_.layers);
    if (named.layer && *named.layer >= all) return *named.layer < all + layers_.predicting;
    const auto first = static_cast<std::size_t>(named.layer.value_or(0));
    const std::size_t end = named.layer ? first + 1 : layers_.layers.size();
    bool any = false;
    for (const std::size_t module : named.modules) {
      for (std::size_t layer = first; layer < end; ++layer) {
        if (is_there(module, layer)) marked_.at(module)[layer] = any = true;
      }
    }
    return any;
  }
  /// Marks what `others` does not.
  void add_all_but(const Marks& others) {
    for (std::size_t module = 0; module < kModules.size(); ++module) {
      for (std::size_t layer = 0; layer < layers_.layers.size(); ++layer) {
        if (others.marked_.at(module)[layer]) continue;
        if (is_there(module, layer)) marked_.at(module)[layer] = true;
      }
    }
  }
  [[nodiscard]] std::int64_t count(std::size_t module) const {
    return std::count(marked_.at(module).begin(), marked_.at(module).end(), true);
  }
  [[nodiscard]] std::int64_t most(std::size_t module) const {
    std::int64_t layers = 0;
    for (std::size_t layer = 0; layer < layers_.layers.size(); ++layer) {
      layers += is_there(module, layer) ? 1 : 0;
    }
    return layers;
  }

 private:
  [[nodiscard]] bool is_there(std::size_t module, std::size_t layer) const {
    return has(layers_.layers[layer], kModules.at(module).block, config_);
  }

  const NumberedLayers& layers_;
  const ModelConfig& config_;
  std::array<std::vector<bool>, kModules.size()> marked_{};  ///< by module, then layer that has it
};

/// Sums up the modules of each product.
void sum_up(const Marks& kept, const ModelConfig& config, UnquantizedModules& found) {
  std::map<Product, std::vector<std::size_t>> products;
  for (std::size_t i = 0; i < kModules.size(); ++i) products[kModules.at(i).product].push_back(i);
  for (const auto& [product, modules] : products) {
    const std::int64_t all = kept.most(modules.front());
    if (all == 0 || (config.latent_attention && product == Product::qkv)) continue;
    std::vector<std::string_view> whole;
    std::size_t parts = 0;
    std::int64_t most = 0;
    for (const std::size_t module : modules) {
      if (!config.gated && kModules.at(module).name == "gate_proj") continue;
      ++parts;
      const std::int64_t some = kept.count(module);
      if (some >= all) whole.push_back(kModules.at(module).name);
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

NamingStyle style_of(const ModelConfig& config) {
  NamingStyle style{.type = config.model_type};
  const Family& family = find_family(config.model_type);
  if (!family.is_known()) return style;
  style.own_names = family.module_names;
  style.encoder = !family.causal;
  style.shared = family.shared_block.empty() ? "shared_experts" : family.shared_block;
  return style;
}

/// Whether the shared MLP is the only one: Granite 4 without experts keeps its name.
bool has_shared_mlp_only(const NamingStyle& style, const NumberedLayers& layers) {
  return style.shared == "shared_mlp" && style.type.starts_with("granite") &&
         std::none_of(layers.layers.begin(), layers.layers.end(),
                      [](const Layer& layer) { return layer.experts; });
}

/// Takes modules of shared experts as those of the dense MLP.
void as_dense(NamedModules& named) {
  for (std::size_t& index : named.modules) {
    if (kModules.at(index).block != Block::shared) continue;
    const auto* const dense =
        std::find_if(kModules.begin(), kModules.end(), [&](const Module& each) {
          return each.block == Block::dense && each.name == kModules.at(index).name;
        });
    index = static_cast<std::size_t>(dense - kModules.begin());
  }
}

}  // namespace

UnquantizedModules unquantized_modules(const JsonReader& described, const NumberedLayers& layers,
                                       const ModelConfig& config) {
  const NamingStyle style = style_of(config);
  const bool is_mlp = has_shared_mlp_only(style, layers);
  UnquantizedModules found;
  const auto read = [&](const std::vector<std::string>& entries, Marks& marks) {
    for (const std::string& entry : entries) {
      auto named = modules_named(entry, style);
      if (named && is_mlp) as_dense(*named);
      if (!named || !marks.add(*named)) found.unread.push_back(one_line(entry, kLongestEntry));
    }
  };
  Marks kept(layers, config);
  for (const char* list :
       {"ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules"}) {
    read(entries_of(described, list), kept);
  }
  if (const auto targets = targets_of(described); !targets.empty()) {
    const std::size_t unread = found.unread.size();
    Marks quantized(layers, config);
    read(targets, quantized);
    if (found.unread.size() == unread) kept.add_all_but(quantized);
  }
  sum_up(kept, config, found);
  return found;
}

}  // namespace overlaptune
