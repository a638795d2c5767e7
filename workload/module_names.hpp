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

/// The modules that an entry names. The last word of its path decides: a block is all of its
/// modules, a module is itself. `own_names`: modules by names that a family gives another meaning.
/// None: the last word is neither, the entry names one of several experts, or it is a pattern of
/// another form.
[[nodiscard]] std::optional<NamedModules> modules_named(
    const std::string& entry, const std::map<std::string, std::string>& own_names);

}  // namespace overlaptune
