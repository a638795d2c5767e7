#include "workload/module_names.hpp"

#include <algorithm>
#include <cctype>

#include "workload/families.hpp"

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

/// Words that name blocks. `own`: those whose modules stand right behind the word, as
/// mlp.down_proj is of the dense MLP, and mlp.experts.0.down_proj is not.
struct BlockNames {
  std::array<std::string_view, 4> words;
  Blocks blocks;
  Blocks own;
};

constexpr std::array<BlockNames, 6> kBlockNames{
    {{{"self_attn", "self_attention", "attention", "attn"}, kAttention, kAttention},
     {{"mlp", "feed_forward", "ffn"}, kMlps, kDense},
     {{"block_sparse_moe", "moe", "moe_block"}, kShared | kExperts, kExperts},
     {{"shared_expert", "shared_experts", "share_expert", "shared_mlp"}, kShared, kShared},
     {{"experts"}, kExperts, kExperts},
     {{"mixer"}, kAll, kAttention | kDense}}};  // Nemotron-H calls each block so

/// Names of some modules in any class, and the blocks in which they have this meaning.
struct ModuleNames {
  Blocks blocks;
  std::array<std::string_view, 3> modules;
  std::array<std::string_view, 9> words;
  bool needs_block = false;  ///< alone, they may be of any block
};

constexpr std::array<ModuleNames, 11> kModuleNames{{
    {kAttention, {"q_proj"}, {"q_proj", "query", "wq"}},
    {kAttention, {"k_proj"}, {"k_proj", "key", "wk"}},
    {kAttention, {"v_proj"}, {"v_proj", "value", "wv"}},
    // W_pack: Baichuan.
    {kAttention,
     {"q_proj", "k_proj", "v_proj"},
     {"qkv_proj", "query_key_value", "wqkv", "Wqkv", "W_pack", "c_attn"}},
    // wo_b: DeepSeek-V4.
    {kAttention, {"o_proj"}, {"o_proj", "out_proj", "wo", "wo_b"}},
    {kAttention, {"o_proj"}, {"Wo", "dense", "c_proj"}, true},
    // fc11, fc12: Nomic-BERT; c_fc_0, c_fc_1: EXAONE; input_linear, output_linear: GraniteMoe; Wi:
    // ModernBERT; linear_fc1: Megatron-LM.
    {kMlps, {"gate_proj"}, {"gate_proj", "w1", "fc12", "c_fc_0"}},
    {kMlps, {"up_proj"}, {"up_proj", "w3", "fc11", "c_fc_1"}},
    {kMlps, {"down_proj"}, {"down_proj", "w2", "fc2", "fc_out", "dense_4h_to_h", "output_linear"}},
    {kMlps, {"down_proj"}, {"c_proj", "Wo"}, true},
    {kMlps,
     {"gate_proj", "up_proj"},
     {"gate_up_proj", "w13", "fc1", "fc_in", "c_fc", "dense_h_to_4h", "input_linear", "Wi",
      "linear_fc1"}},
}};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a word, wherever it stands, is one of a part that has no product here: the output
/// projection, a router, layers of other kinds, parts for images and speech.
bool is_elsewhere(std::string_view word) {
  const WordSet& beginnings = word_list("beginnings_elsewhere");
  const auto begins = [&](const std::string& beginning) { return word.starts_with(beginning); };
  return word_list("modules_elsewhere").contains(word) ||
         std::any_of(beginnings.begin(), beginnings.end(), begins) ||
         word.find("projector") != word.npos || word.find("norm") != word.npos;
}

/// Words of the way to the layers of a language model.
bool is_root(std::string_view word, const NamingStyle& style) {
  if (word_list("roots").contains(word)) return true;
  return style.encoder && (word_list("roots_of_encoders").contains(word) || word == style.type);
}

bool is_list_of_layers(std::string_view word) {
  constexpr std::array<std::string_view, 4> kLists{"layers", "layer", "blocks", "h"};
  return is_one_of(word, kLists);
}

/// Whether the last word names a part of attention or of a mixer that has no product here: low-rank
/// factors of queries and keys, scales, the attention itself behind its projections.
bool has_no_product(std::string_view before, std::string_view word) {
  if (word == "output" && !before.empty() && before != "model") return false;  // BERT's block
  if (word_list("modules_without_product").contains(word)) return true;
  if (before == "mixer" && word == "out_proj") return true;  // of Mamba in Nemotron-H
  const bool behind_attention = before == "self_attn" || before == "self_attention";
  return behind_attention && word == "attn";
}

/// The text between two words, a letter for each part: D a dot, d any one character, W any text,
/// N the digits of a number, $ the end, x what is not known here.
std::string gap_of(std::string_view text, bool is_regex) {
  std::string gap;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const auto take = [&](std::string_view part, char letter) {
      if (!rest.starts_with(part)) return false;
      gap += letter;
      i += part.size() - 1;
      return true;
    };
    if (take("\\d+", 'N') || take("[0-9]+", 'N') || take("\\.*", 'x') || take("\\.", 'D')) continue;
    if (is_regex && (take(".*", 'W') || take(".+", 'x') || take(".", 'd') || take("$", '$')))
      continue;
    if (!is_regex && (take("*", 'W') || take(".", 'D'))) continue;
    gap += 'x';
  }
  return gap;
}

bool is_of_word(std::string_view text, std::size_t at) {
  const char c = text[at];
  // The letter of a class, as in \d and \w, is none of a name.
  if (at > 0 && text[at - 1] == '\\') return false;
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

struct PathWord {
  std::string word{};
  std::string gap{};  ///< before the word
};

/// An entry in parts. Patterns of compressed-tensors ("re:") are matched from the beginning of a
/// name on, and leave its end open.
struct Entry {
  std::vector<PathWord> words{};
  std::string tail{};  ///< behind the last word
  bool is_regex = false;
};

Entry parts_of(std::string_view text) {
  Entry entry{.is_regex = text.starts_with("re:")};
  if (entry.is_regex) text.remove_prefix(text.substr(3).starts_with('^') ? 4 : 3);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const bool in_class = i > 0 && text[i - 1] == '[' && text.substr(i, 3) == "0-9";
    if (in_class || !is_of_word(text, i)) {
      i += in_class ? 3 : 1;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_of_word(text, end)) ++end;
    entry.words.push_back({.word = std::string(text.substr(i, end - i)),
                           .gap = gap_of(text.substr(begin, i - begin), entry.is_regex)});
    begin = i = end;
  }
  entry.tail = gap_of(text.substr(begin), entry.is_regex);
  auto& words = entry.words;
  if (words.size() > 1 && words.back().word == "weight" && words.back().gap == "D")
    words.pop_back();
  return entry;
}

/// A gap whose single characters are dots, which all names have where words meet.
std::string with_dots(std::string gap) {
  std::replace(gap.begin(), gap.end(), 'd', 'D');
  return gap;
}

/// Whether nothing but a dot, or any words, are between two words.
bool joins_words(const std::string& gap) {
  constexpr std::array<std::string_view, 5> kGaps{"D", "W", "DW", "WD", "DWD"};
  return is_one_of(with_dots(gap), kGaps);
}

/// Whether the numbers of all layers, or of all experts, fit into a gap.
bool takes_all_numbers(const std::string& gap) {
  constexpr std::array<std::string_view, 9> kGaps{"W",   "DW",   "WD",   "DWD",  "DND",
                                                  "DNW", "DNWD", "DNDW", "DNDWD"};
  return is_one_of(with_dots(gap), kGaps);
}

bool is_number(const std::string& word) {
  constexpr std::size_t kMostDigits = 6;
  return !word.empty() && word.size() <= kMostDigits &&
         word.find_first_not_of("0123456789") == word.npos;
}

const BlockNames* block_named(std::string_view word) {
  const auto* const found =
      std::find_if(kBlockNames.begin(), kBlockNames.end(),
                   [&](const BlockNames& each) { return is_one_of(word, each.words); });
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
  for (const ModuleNames& each : kModuleNames) {
    if (!is_one_of(wanted, each.words) || (each.needs_block && !has_block)) continue;
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
  bool is_known = true;  ///< all of its words are
  std::optional<std::int64_t> layer{};
};

/// Blocks beside that of a word, whose names end in this word: ".*experts" is also of
/// "shared_experts".
Blocks longer_blocks(const PathWord& at, const NamingStyle& style) {
  const bool is_longer = style.shared != at.word && style.shared.ends_with(at.word);
  const bool may_be_an_end = at.gap.ends_with('W');
  return is_longer && may_be_an_end ? kShared : 0;
}

/// Whether what stands behind the last word leaves it whole. A block has modules behind a dot, and
/// a module has none. Attention and MLPs are no linear modules themselves; experts may be one.
bool ends(const std::string& gap, const BlockNames* block) {
  constexpr std::array<std::string_view, 3> kAny{"", "W", "W$"};
  constexpr std::array<std::string_view, 3> kBehindBlock{"D", "DW", "DW$"};
  if (is_one_of(gap, kAny)) return true;
  if (block == nullptr) return gap == "$";
  const bool may_be_one = block->blocks == kShared || block->blocks == kExperts;
  return is_one_of(with_dots(gap), kBehindBlock) || (gap == "$" && may_be_one);
}

/// Whether the word at `i` may stand right behind the one before it: the layers are behind the way
/// to them, and but for OPT's fc1 and fc2 all modules are in a block.
bool may_follow(const Entry& entry, std::size_t i, const NamingStyle& style) {
  const PathWord& at = entry.words[i];
  if (i == 0 || at.gap.find('W') != at.gap.npos) return true;
  const std::string& before = entry.words[i - 1].word;
  const bool has_block = block_named(at.word) != nullptr;
  if (is_root(before, style)) {
    return is_root(at.word, style) || is_list_of_layers(at.word) || at.word == "encoder";
  }
  const bool behind_layer = is_number(before) || is_list_of_layers(before);
  return !behind_layer || has_block || is_number(at.word) || at.word.starts_with("fc");
}

/// Whether the word at `i` is known there, by those before it. `gap`: behind it.
bool fits(const Entry& entry, std::size_t i, const std::string& gap, const NamingStyle& style) {
  const std::string& word = entry.words[i].word;
  const std::string_view before = i == 0 ? "" : std::string_view(entry.words[i - 1].word);
  const bool is_last = i + 1 == entry.words.size();
  if (is_number(word)) {
    const bool is_plain_end = is_last && gap.empty() && !entry.is_regex;
    return is_list_of_layers(before) && with_dots(entry.words[i].gap) == "D" &&
           (is_plain_end || with_dots(gap) == "D");
  }
  if (!may_follow(entry, i, style)) return false;
  if (is_last) return ends(gap, block_named(word));
  if (is_list_of_layers(word)) {
    const bool has_number = is_number(entry.words[i + 1].word) && with_dots(gap) == "D";
    return has_number || takes_all_numbers(gap);
  }
  if (word == "experts" && takes_all_numbers(gap)) return true;
  // BERT: attention.self.query, attention.output.dense.
  const bool is_of_bert = before == "attention" && (word == "self" || word == "output");
  // ChatGLM calls its decoder an encoder.
  const bool is_of_chatglm = before == "transformer" && word == "encoder";
  const bool is_known =
      is_root(word, style) || block_named(word) != nullptr || is_of_bert || is_of_chatglm;
  return is_known && joins_words(gap);
}

/// Whether the beginning of an entry can be one of a module's name.
bool can_begin(const Entry& entry, const NamingStyle& style) {
  const PathWord& first = entry.words.front();
  const std::string gap = with_dots(first.gap);
  if (gap == "W" || gap == "WD") return true;
  return gap.empty() && (!entry.is_regex || is_root(first.word, style));
}

Path path_of(const Entry& entry, const NamingStyle& style) {
  const auto& words = entry.words;
  Path path{.is_known = can_begin(entry, style)};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& gap = i + 1 < words.size() ? words[i + 1].gap : entry.tail;
    if (!fits(entry, i, gap, style)) path.is_known = false;
    if (is_number(words[i].word)) path.layer = std::stoll(words[i].word);
    const BlockNames* const block = block_named(words[i].word);
    const bool goes_back = is_list_of_layers(words[i].word) || is_root(words[i].word, style);
    const bool is_apart = block != nullptr && (block->blocks & path.blocks) == 0;
    if (path.has_block && (goes_back || is_apart)) path.is_known = false;
    if (block == nullptr) continue;
    const bool has_own =
        i + 2 == words.size() && with_dots(gap) == "D" && block_named(words[i + 1].word) == nullptr;
    path.blocks = (has_own ? block->own : block->blocks) | longer_blocks(words[i], style);
    // Granite has the shared MLP beside this block.
    const bool is_beside = words[i].word == "block_sparse_moe" && style.shared == "shared_mlp";
    if (is_beside) path.blocks = kExperts;
    path.has_block = true;
  }
  return path;
}

/// Whether a word is the router, and not the beginning of another name such as gate_proj.
bool is_router(const Entry& entry, std::size_t i) {
  if (entry.words[i].word != "gate") return false;
  const bool is_last = i + 1 == entry.words.size();
  const std::string& gap = is_last ? entry.tail : entry.words[i + 1].gap;
  return gap.starts_with('D') || gap == "$" || (is_last && gap.empty() && !entry.is_regex);
}

/// Whether an entry is of modules that have no product here.
bool is_without_product(const Entry& entry, const NamingStyle& style) {
  const auto& words = entry.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_other = is_elsewhere(words[i].word) && !is_root(words[i].word, style);
    if (is_other || is_router(entry, i)) return true;
  }
  const std::string_view before =
      words.size() > 1 ? std::string_view(words[words.size() - 2].word) : "";
  return has_no_product(before, words.back().word);
}

}  // namespace

std::optional<NamedModules> modules_named(const std::string& text, const NamingStyle& style) {
  if (text.find_first_of("|?(") != text.npos) return std::nullopt;  // one of several, or none
  const Entry entry = parts_of(text);
  if (entry.words.empty()) return std::nullopt;
  if (is_without_product(entry, style)) return NamedModules{};
  const Path path = path_of(entry, style);
  if (!path.is_known) return std::nullopt;
  NamedModules named{.layer = path.layer};
  const std::string& last = entry.words.back().word;
  const bool is_whole_layer = is_number(last) && !path.has_block;
  named.modules = is_whole_layer ? indices(kAll, nullptr)
                  : block_named(last) != nullptr
                      ? indices(path.blocks, nullptr)
                      : modules_of(last, path.blocks, path.has_block, style.own_names);
  if (named.modules.empty()) return std::nullopt;
  return named;
}

}  // namespace overlaptune
