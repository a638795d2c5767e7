#include "workload/module_names.hpp"

#include <algorithm>
#include <cctype>

namespace overlaptune {
namespace {

/// A set of blocks, a bit for each.
using Blocks = unsigned;
constexpr Blocks bit_of(Block block) {
  return 1U << static_cast<unsigned>(block);
}
constexpr Blocks kAttention = bit_of(Block::attention);
constexpr Blocks kDense = bit_of(Block::dense);
constexpr Blocks kExperts = bit_of(Block::experts);
constexpr Blocks kShared = bit_of(Block::shared);
constexpr Blocks kMlps = kDense | kShared | kExperts;
constexpr Blocks kAll = kAttention | kMlps;

/// A word that names a block. `own`: the one whose modules stand right behind the word, as
/// mlp.down_proj is of the dense MLP, and mlp.experts.0.down_proj is not.
struct BlockName {
  std::string_view word;
  Blocks blocks;
  Blocks own;
};

constexpr std::array<BlockName, 16> kBlockNames{{{"self_attn", kAttention, kAttention},
                                                 {"self_attention", kAttention, kAttention},
                                                 {"attention", kAttention, kAttention},
                                                 {"attn", kAttention, kAttention},
                                                 {"mlp", kMlps, kDense},
                                                 {"feed_forward", kMlps, kDense},
                                                 {"ffn", kMlps, kDense},
                                                 {"block_sparse_moe", kShared | kExperts, kExperts},
                                                 {"moe", kShared | kExperts, kExperts},
                                                 {"shared_expert", kShared, kShared},
                                                 {"shared_experts", kShared, kShared},
                                                 {"share_expert", kShared, kShared},
                                                 {"shared_mlp", kShared, kShared},
                                                 {"experts", kExperts, kExperts},
                                                 // Nemotron-H calls each block a mixer.
                                                 {"mixer", kAll, kAttention | kDense},
                                                 {"moe_block", kShared | kExperts, kExperts}}};

/// A name of modules in some class, and the blocks in which it has this meaning.
struct ModuleName {
  std::string_view word;
  Blocks blocks;
  std::array<std::string_view, 3> modules;
  bool needs_block = false;  ///< alone, it may be of any block
};

constexpr std::array<ModuleName, 47> kModuleNames{{
    {"q_proj", kAttention, {"q_proj"}},
    {"k_proj", kAttention, {"k_proj"}},
    {"v_proj", kAttention, {"v_proj"}},
    {"query", kAttention, {"q_proj"}},
    {"key", kAttention, {"k_proj"}},
    {"value", kAttention, {"v_proj"}},
    {"wq", kAttention, {"q_proj"}},
    {"wk", kAttention, {"k_proj"}},
    {"wv", kAttention, {"v_proj"}},
    {"qkv_proj", kAttention, {"q_proj", "k_proj", "v_proj"}},
    {"query_key_value", kAttention, {"q_proj", "k_proj", "v_proj"}},
    {"wqkv", kAttention, {"q_proj", "k_proj", "v_proj"}},
    {"Wqkv", kAttention, {"q_proj", "k_proj", "v_proj"}},
    {"W_pack", kAttention, {"q_proj", "k_proj", "v_proj"}},  // Baichuan
    {"c_attn", kAttention, {"q_proj", "k_proj", "v_proj"}},
    {"o_proj", kAttention, {"o_proj"}},
    {"out_proj", kAttention, {"o_proj"}},
    {"wo", kAttention, {"o_proj"}},
    {"wo_b", kAttention, {"o_proj"}},  // DeepSeek-V4
    {"Wo", kAttention, {"o_proj"}, true},
    {"dense", kAttention, {"o_proj"}, true},
    {"c_proj", kAttention, {"o_proj"}, true},
    {"gate_proj", kMlps, {"gate_proj"}},
    {"up_proj", kMlps, {"up_proj"}},
    {"down_proj", kMlps, {"down_proj"}},
    {"gate_up_proj", kMlps, {"gate_proj", "up_proj"}},
    {"w1", kMlps, {"gate_proj"}},
    {"w2", kMlps, {"down_proj"}},
    {"w3", kMlps, {"up_proj"}},
    {"w13", kMlps, {"gate_proj", "up_proj"}},
    {"fc1", kMlps, {"gate_proj", "up_proj"}},
    {"fc2", kMlps, {"down_proj"}},
    {"fc_in", kMlps, {"gate_proj", "up_proj"}},
    {"fc_out", kMlps, {"down_proj"}},
    {"fc11", kMlps, {"up_proj"}},  // Nomic-BERT
    {"fc12", kMlps, {"gate_proj"}},
    {"c_fc", kMlps, {"gate_proj", "up_proj"}},
    {"c_fc_0", kMlps, {"gate_proj"}},  // EXAONE
    {"c_fc_1", kMlps, {"up_proj"}},
    {"c_proj", kMlps, {"down_proj"}, true},
    {"dense_h_to_4h", kMlps, {"gate_proj", "up_proj"}},
    {"dense_4h_to_h", kMlps, {"down_proj"}},
    {"input_linear", kMlps, {"gate_proj", "up_proj"}},  // GraniteMoe
    {"output_linear", kMlps, {"down_proj"}},
    {"Wi", kMlps, {"gate_proj", "up_proj"}},  // ModernBERT
    {"Wo", kMlps, {"down_proj"}, true},
    {"linear_fc1", kMlps, {"gate_proj", "up_proj"}},  // Megatron-LM
}};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a word, wherever it stands, is one of a part that has no product here: the output
/// projection, a router, layers of other kinds, parts for images and speech.
bool is_elsewhere(std::string_view word) {
  constexpr std::array<std::string_view, 26> kElsewhere{"lm_head",
                                                        "embed_tokens",
                                                        "embed_out",
                                                        "word_embeddings",
                                                        "tok_embeddings",
                                                        "wte",
                                                        "wpe",
                                                        "output_layer",
                                                        "router",
                                                        "gate",
                                                        "linear_attn",
                                                        "mamba",
                                                        "conv",
                                                        "conv1d",
                                                        "shared_expert_gate",
                                                        "indexer",
                                                        "compressor",
                                                        "eh_proj",
                                                        "shared_head",
                                                        "talker",
                                                        "code2wav",
                                                        "token2wav",
                                                        "image_newline",
                                                        "e_score_correction_bias",
                                                        "moe_statics",
                                                        "score"};
  return is_one_of(word, kElsewhere) || word.starts_with("vision") || word.starts_with("visual") ||
         word.starts_with("audio") || word.starts_with("mtp") ||
         word.find("projector") != word.npos || word.find("norm") != word.npos;
}

/// Whether the last word names a part of attention or of a mixer that has no product here: low-rank
/// factors of queries and keys, scales, the attention itself behind its projections.
bool has_no_product(std::string_view before, std::string_view word) {
  constexpr std::array<std::string_view, 20> kWithout{"q_a_proj",   "q_b_proj",
                                                      "kv_a_proj",  "kv_a_proj_with_mqa",
                                                      "kv_b_proj",  "fused_qkv_a_proj",
                                                      "wq_a",       "wq_b",
                                                      "wkv",        "wo_a",
                                                      "rotary_emb", "sinks",
                                                      "q_scale",    "k_scale",
                                                      "v_scale",    "kv_scale",
                                                      "in_proj",    "x_proj",
                                                      "dt_proj",    "output"};
  if (is_one_of(word, kWithout)) return true;
  if (before == "mixer" && word == "out_proj") return true;  // of Mamba in Nemotron-H
  const bool behind_attention = before == "self_attn" || before == "self_attention";
  return behind_attention && word == "attn";
}

/// A word of a path, and whether the path goes on from the word before it without a gap.
struct PathWord {
  std::string word{};
  bool follows = false;
};

std::vector<PathWord> words_of(const std::string& entry) {
  std::vector<PathWord> words;
  std::string gap;
  bool inside = false;
  for (const char c : entry) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') {
      gap += c;
      inside = false;
      continue;
    }
    if (!inside) words.push_back({.follows = gap == "." || gap == "\\."});
    words.back().word += c;
    inside = true;
    gap.clear();
  }
  if (!words.empty() && words.back().word == "weight") words.pop_back();
  return words;
}

bool is_number(const std::string& word) {
  constexpr std::size_t kMostDigits = 6;
  return !word.empty() && word.size() <= kMostDigits &&
         word.find_first_not_of("0123456789") == word.npos;
}

const BlockName* block_named(std::string_view word) {
  const auto* const found = std::find_if(kBlockNames.begin(), kBlockNames.end(),
                                         [&](const BlockName& each) { return each.word == word; });
  return found == kBlockNames.end() ? nullptr : found;
}

std::vector<std::size_t> indices(Blocks blocks, const std::string_view* module) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < kModules.size(); ++i) {
    const Module& each = kModules.at(i);
    const bool is_named = module == nullptr || each.name == *module;
    if (is_named && (bit_of(each.block) & blocks) != 0) list.push_back(i);
  }
  return list;
}

/// The modules of a name in some blocks; empty where it has no meaning there.
std::vector<std::size_t> modules_of(const std::string& word, Blocks blocks, bool has_block,
                                    const std::map<std::string, std::string>& own_names) {
  const auto own = own_names.find(word);
  const std::string_view wanted = own == own_names.end() ? std::string_view(word) : own->second;
  std::vector<std::size_t> list;
  for (const ModuleName& each : kModuleNames) {
    if (each.word != wanted || (each.needs_block && !has_block)) continue;
    for (const std::string_view& module : each.modules) {
      if (module.empty()) continue;
      const auto found = indices(blocks & each.blocks, &module);
      list.insert(list.end(), found.begin(), found.end());
    }
  }
  return list;
}

/// The blocks that the words before the last one lead to.
struct Path {
  Blocks blocks = kAll;
  bool has_block = false;
  bool is_of_other_form = false;  ///< one of several experts, or a layer that is no number
  std::optional<std::int64_t> layer{};
};

Path path_of(const std::vector<PathWord>& words) {
  Path path;
  std::string_view before;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].word;
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
      const bool is_layer = before == "layers" || before == "blocks" || before == "h";
      if (before == "experts" || (is_layer && !is_number(word))) path.is_of_other_form = true;
      if (is_layer && is_number(word)) path.layer = std::stoll(word);
    }
    if (const BlockName* const block = block_named(word); block != nullptr) {
      const bool is_next_last = i + 2 == words.size() && words[i + 1].follows;
      path.blocks =
          is_next_last && block_named(words[i + 1].word) == nullptr ? block->own : block->blocks;
      path.has_block = true;
    }
    before = word;
  }
  return path;
}

}  // namespace

std::optional<NamedModules> modules_named(const std::string& entry,
                                          const std::map<std::string, std::string>& own_names) {
  if (entry.find_first_of("|[?") != entry.npos) return std::nullopt;  // one of several, or none
  const std::vector<PathWord> words = words_of(entry);
  if (words.empty()) return std::nullopt;
  if (std::any_of(words.begin(), words.end(),
                  [](const PathWord& each) { return is_elsewhere(each.word); })) {
    return NamedModules{};
  }
  const std::string& last = words.back().word;
  const std::string before = words.size() > 1 ? words[words.size() - 2].word : "";
  if (has_no_product(before, last)) return NamedModules{};
  const Path path = path_of(words);
  if (path.is_of_other_form) return std::nullopt;
  NamedModules named{.layer = path.layer};
  // A pattern that ends in the number of a layer may also be of those that begin with it.
  const bool is_whole_layer = path.layer && is_number(last) && entry.ends_with(last) &&
                              !entry.starts_with("re:") && !path.has_block;
  named.modules = is_whole_layer ? indices(kAll, nullptr)
                  : block_named(last) != nullptr
                      ? indices(path.blocks, nullptr)
                      : modules_of(last, path.blocks, path.has_block, own_names);
  if (named.modules.empty()) return std::nullopt;
  return named;
}

}  // namespace overlaptune
