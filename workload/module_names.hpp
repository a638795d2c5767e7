#pragma once
// Names of the linear modules of a layer, as lists of quantised models have them:
// "model.layers.3.mlp.down_proj", "re:.*self_attn.*", "*lm_head*".

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layer_gemm.hpp"

namespace overlaptune {

enum class Block { attention, dense, shared, experts };

/// A linear module of a layer, and the product that computes it.
struct Module {
  Block block;
  std::string_view name;
  Product product;
};

inline constexpr std::array<Module, 13> kModules{
    {{Block::attention, "q_proj", Product::qkv},
     {Block::attention, "k_proj", Product::qkv},
     {Block::attention, "v_proj", Product::qkv},
     {Block::attention, "o_proj", Product::o},
     {Block::dense, "gate_proj", Product::gate_up},
     {Block::dense, "up_proj", Product::gate_up},
     {Block::dense, "down_proj", Product::down},
     {Block::shared, "gate_proj", Product::shared_gate_up},
     {Block::shared, "up_proj", Product::shared_gate_up},
     {Block::shared, "down_proj", Product::shared_down},
     {Block::experts, "gate_proj", Product::experts_gate_up},
     {Block::experts, "up_proj", Product::experts_gate_up},
     {Block::experts, "down_proj", Product::experts_down}}};

struct NamedModules {
  std::vector<std::size_t> modules{};   ///< indices of `kModules`; none: they have no product here
  std::optional<std::int64_t> layer{};  ///< absent: in all layers
};

/// How the class of a model names its modules.
struct NamingStyle {
  std::map<std::string, std::string> own_names{};  ///< names that a family gives another meaning
  std::string type{};                              ///< `model_type`
  std::string shared{};                            ///< the module of experts that all tokens pass
  bool encoder = false;                            ///< its layers are in a module of this name
};

/// The modules that an entry names: a name, a name with `*`, or a pattern behind "re:". The last
/// word of its path decides: a block is all of its modules, a module is itself. None: the last word
/// is neither, a word before it is not known, the entry names one of several experts or some of the
/// layers by a pattern, or it is a pattern of another form.
[[nodiscard]] std::optional<NamedModules> modules_named(const std::string& text,
                                                        const NamingStyle& style);

}  // namespace overlaptune
