#pragma once
// Which layers of a model have attention, an MLP or experts, by the fields of its config.json.

#include <string>
#include <vector>

#include "workload/config_fields.hpp"
#include "workload/families.hpp"

namespace overlaptune {

/// The mixer of the tokens in a layer.
enum class Mixer {
  full,       ///< attention to all tokens
  window,     ///< attention to a window or a chunk
  none,       ///< a block with an MLP only
  linear,     ///< linear attention (gated DeltaNet)
  lightning,  ///< linear attention (lightning attention)
  mamba,
  mamba2,
  conv,
  recurrent,
  cross,  ///< attention to the tokens of images
};

[[nodiscard]] constexpr bool is_attention(Mixer mixer) {
  return mixer == Mixer::full || mixer == Mixer::window;
}

struct Layer {
  Mixer mixer = Mixer::full;
  bool dense = true;
  bool experts = false;
};

/// The mixer by a name of families.json or of `layer_types`. Throws: not known.
[[nodiscard]] Mixer mixer_named(const ConfigFields& fields, const std::string& field,
                                const std::string& name, const Family& family);

/// "Mamba", for sentences.
[[nodiscard]] std::string in_words(Mixer mixer);

/// Layers with experts: those listed; every `period`-th one from `offset` on (jamba); every
/// `freq`-th one behind the first dense ones (deepseek, glm4_moe, ernie); every `step`-th one but
/// for those that are listed as dense (qwen, llama4).
[[nodiscard]] std::vector<bool> read_sparse(ConfigFields& fields, std::int64_t layers);

/// `all_attention` passes over what the fields say of attention. Throws `Failure`: a list whose
/// length is not that of the layers, a name that is not known, a family with several kinds of
/// layers whose fields are missing.
[[nodiscard]] std::vector<Layer> read_layers(ConfigFields& fields, const Family& family,
                                             std::int64_t layers, std::int64_t experts,
                                             bool all_attention);

}  // namespace overlaptune
