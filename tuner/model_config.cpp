#include "tuner/model_config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text_file.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

using Names = std::initializer_list<const char*>;  // the names that models have for one field

// Model types whose MLPs have two matrices (up, down), and three (gate, up, down).
constexpr std::array<std::string_view, 17> kPlainMlp{
    "gpt2",   "gpt_neox", "gpt_neo",     "gptj",        "opt",        "bloom",
    "falcon", "phi",      "mpt",         "gpt_bigcode", "starcoder2", "codegen",
    "bert",   "roberta",  "xlm-roberta", "camembert",   "electra"};
constexpr std::array<std::string_view, 30> kGatedMlp{
    "llama",       "mistral",   "mixtral",     "qwen2",     "qwen2_moe",   "qwen3",
    "qwen3_moe",   "gemma",     "gemma2",      "gemma3",    "gemma3_text", "phi3",
    "cohere",      "cohere2",   "granite",     "olmo",      "olmo2",       "deepseek_v2",
    "deepseek_v3", "internlm2", "llama4_text", "mistral3",  "gpt_oss",     "chatglm",
    "glm",         "glm4",      "glm4_moe",    "ministral", "ernie4_5",    "ernie4_5_moe"};
// Model types whose layers are not attention and one MLP, or whose config.json names them
// otherwise.
constexpr std::array<std::string_view, 14> kUnsupported{
    "mamba", "mamba2", "falcon_mamba", "rwkv", "jamba", "recurrent_gemma", "dbrx",
    "t5",    "mt5",    "umt5",         "bart", "mbart", "whisper",         "distilbert"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The fields of a model, each by any of the names that it has. Whatever is wrong is a `Failure`.
class Fields {
 public:
  explicit Fields(const JsonReader& object) : object_(object) {}

  /// The value of the first name that is present and not null.
  [[nodiscard]] std::optional<std::int64_t> count_if_any(Names names,
                                                         std::int64_t least = 1) const {
    const char* const name = present(names);
    if (name == nullptr) return std::nullopt;
    const JsonReader field = object_[name];
    if (!field.is_integer(least, kLargestSize)) {
      fail(fmt::format("{} = {}: expected a whole number from {} to 2^31 - 1", name, field.shown(),
                       least));
    }
    return field.integer(least);
  }

  [[nodiscard]] std::int64_t count(Names names) const {
    const auto value = count_if_any(names);
    if (!value) {
      fail(fmt::format("{} is missing: expected a whole number from 1 to 2^31 - 1",
                       fmt::join(names, " or ")));
    }
    return *value;
  }

  [[nodiscard]] std::string text_if_any(Names names) const {
    const char* const name = present(names);
    if (name == nullptr) return {};
    const JsonReader field = object_[name];
    if (!field.is_text()) {
      fail(fmt::format("{} = {}: expected a string", name, field.shown()));
    }
    return field.text();
  }

  [[nodiscard]] bool has(const char* name) const { return object_.has(name); }

  /// The elements of an array; none where it is absent.
  [[nodiscard]] std::vector<std::int64_t> whole_numbers(const char* name) const {
    if (!has(name)) return {};
    return object_[name].list([](const JsonReader& element) { return element.integer(0); });
  }

  [[nodiscard]] bool is_set(const char* name) const { return has(name) && object_[name].boolean(); }

  /// The text at `inner` of the object at `outer`; empty where either is absent.
  [[nodiscard]] std::string text_within(const char* outer, const char* inner) const {
    if (!object_.has(outer) || !object_[outer].is_object()) return {};
    const JsonReader object = object_[outer];
    return Fields(object).text_if_any({inner});
  }

  [[noreturn]] void fail(const std::string& message) const { object_.fail(message); }

 private:
  [[nodiscard]] const char* present(Names names) const {
    const auto* const found =
        std::find_if(names.begin(), names.end(), [&](auto name) { return object_.has(name); });
    return found == names.end() ? nullptr : *found;
  }

  const JsonReader& object_;
};

/// Heads of keys and values. In falcon and gpt_bigcode `multi_query` means one head for all
/// queries.
std::int64_t read_kv_heads(const Fields& fields, const ModelConfig& config) {
  if (fields.is_set("multi_query") && !fields.is_set("new_decoder_architecture")) return 1;
  if (fields.is_set("multi_query_attention")) {  // chatglm
    if (const auto groups = fields.count_if_any({"multi_query_group_num"})) return *groups;
  }
  return fields.count_if_any({"num_key_value_heads", "num_kv_heads"}).value_or(config.heads);
}

void read_attention(const Fields& fields, ModelConfig& config) {
  config.heads = fields.count({"num_attention_heads", "n_head", "n_heads"});
  config.kv_heads = read_kv_heads(fields, config);
  if (config.heads % config.kv_heads != 0) {
    fields.fail(
        fmt::format("num_key_value_heads = {}: expected a divisor of "
                    "num_attention_heads = {}",
                    config.kv_heads, config.heads));
  }
  const auto head_dim = fields.count_if_any({"head_dim", "kv_channels"});
  if (!head_dim && config.hidden % config.heads != 0) {
    fields.fail(
        fmt::format("hidden_size = {}: expected a multiple of num_attention_heads = {}, or "
                    "head_dim beside it",
                    config.hidden, config.heads));
  }
  config.head_dim = head_dim.value_or(config.hidden / config.heads);
  config.latent_attention = fields.count_if_any({"kv_lora_rank"}).has_value();
  config.value_head_dim = fields.count_if_any({"v_head_dim"}).value_or(config.head_dim);
}

/// Layers with experts: every `step`-th one (qwen, llama4) but for those that are listed as dense,
/// or every `freq`-th one behind the first dense ones (deepseek, glm4_moe, ernie).
std::int64_t count_sparse_layers(const Fields& fields, const ModelConfig& config) {
  const auto multiples_below = [](std::int64_t end, std::int64_t of) {
    return (end + of - 1) / of;
  };
  const auto first =
      fields.count_if_any({"first_k_dense_replace", "moe_layer_start_index"}, 0).value_or(0);
  if (first > 0 || fields.has("moe_layer_freq")) {
    const auto freq = fields.count_if_any({"moe_layer_freq"}).value_or(1);
    return std::max<std::int64_t>(
        0, multiples_below(config.layers, freq) - multiples_below(first, freq));
  }
  const auto step =
      fields.count_if_any({"interleave_moe_layer_step", "decoder_sparse_step"}).value_or(1);
  std::set<std::int64_t> dense;
  for (const std::int64_t layer : fields.whole_numbers("mlp_only_layers")) {
    if (layer < config.layers && (layer + 1) % step == 0) dense.insert(layer);
  }
  return config.layers / step - static_cast<std::int64_t>(dense.size());
}

/// The width of the expert that every token passes.
std::int64_t read_shared_width(const Fields& fields, const ModelConfig& config) {
  if (config.model_type == "llama4_text") return config.expert_intermediate;
  if (const auto width = fields.count_if_any({"shared_expert_intermediate_size"}, 0)) return *width;
  const auto shared =
      fields.count_if_any({"n_shared_experts", "moe_num_shared_experts"}, 0).value_or(0);
  return shared * config.expert_intermediate;
}

/// The experts: their number, their width, and the layers that have them.
void read_experts(const Fields& fields, ModelConfig& config) {
  config.experts =
      fields
          .count_if_any({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"},
                        0)
          .value_or(0);
  if (config.experts == 0) {
    config.dense_layers = config.layers;
    return;
  }
  config.experts_per_token =
      fields.count_if_any({"num_experts_per_tok", "experts_per_token", "moe_k"}).value_or(0);
  if (config.experts_per_token > config.experts) {
    fields.fail(fmt::format("num_experts_per_tok = {}: expected at most the number of experts, {}",
                            config.experts_per_token, config.experts));
  }
  config.expert_intermediate = fields.count({"moe_intermediate_size", "intermediate_size"});
  config.shared_intermediate = read_shared_width(fields, config);
  config.dense_layers = config.layers - count_sparse_layers(fields, config);
}

void read_mlp(const Fields& fields, ModelConfig& config) {
  read_experts(fields, config);
  const std::string activation =
      fields.text_if_any({"hidden_act", "activation_function", "hidden_activation"});
  config.gated = contains(kGatedMlp, config.model_type);
  if (!config.gated && !contains(kPlainMlp, config.model_type)) {
    config.gated = activation.empty() || activation == "silu" || activation == "swish";
    config.notes.push_back(fmt::format("model_type '{}' is not known: its MLP is taken to be {}",
                                       config.model_type, config.gated ? "gated" : "not gated"));
  }
  if (config.dense_layers == 0) return;
  const auto width = fields.count_if_any(
      {"intermediate_size_mlp", "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"});
  if (!width && config.gated) {
    fields.fail("intermediate_size is missing: expected a whole number from 1 to 2^31 - 1");
  }
  config.intermediate = width.value_or(4 * config.hidden);  // the default of the GPT-2 family
}

void read_dtype(const Fields& fields, ModelConfig& config) {
  const std::string name = fields.text_if_any({"torch_dtype", "dtype"});
  if (name == "float16") {
    config.dtype = Dtype::fp16;
  } else if (!name.empty() && name != "bfloat16") {
    config.notes.push_back(fmt::format("torch_dtype '{}' is taken as bf16", name));
  }
  const std::string quantized = fields.text_within("quantization_config", "quant_method");
  if (!quantized.empty()) {
    config.notes.push_back(
        fmt::format("the weights are quantized ({}): the products are taken as {}, so times with "
                    "quantized weights differ",
                    quantized, to_string(config.dtype)));
  }
}

/// The name of a model: "llama-3-70b" for `models/llama-3-70b.json` and for
/// `llama-3-70b/config.json`.
std::string name_in_path(const std::filesystem::path& file) {
  if (file.filename() != "config.json") {
    return (file.extension() == ".json" ? file.stem() : file.filename()).string();
  }
  const auto folder = std::filesystem::absolute(file).lexically_normal().parent_path();
  const auto above = folder.parent_path();
  // The cache of the Hugging Face hub: models--ORGANISATION--NAME/snapshots/REVISION/config.json.
  if (above.filename() == "snapshots") {
    const std::string repository = above.parent_path().filename().string();
    if (const auto at = repository.rfind("--"); at != repository.npos) {
      return repository.substr(at + 2);
    }
  }
  return folder.has_filename() ? folder.filename().string() : "config";
}

/// The name as one word of a table: control characters become underscores.
std::string model_name(const std::filesystem::path& file) {
  std::string name = name_in_path(file);
  for (char& c : name) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '_';
  }
  return name;
}

}  // namespace

Expected<ModelConfig> parse_model_config(std::string_view json, std::string_view name) {
  try {
    const auto document = parse_python_json(json, name);
    const JsonReader root(document, name);
    if (!root.is_object()) {
      root.fail("expected the object of a Hugging Face config.json, found " + root.shown());
    }
    ModelConfig config;
    const bool is_nested = root.has("text_config") && root["text_config"].is_object();
    if (is_nested)
      config.notes.emplace_back("vision and audio parts are skipped: only text_config");
    const JsonReader language = is_nested ? root["text_config"] : root;

    const Fields fields(language);
    config.model_type = fields.text_if_any({"model_type"});
    if (contains(kUnsupported, config.model_type)) {
      fields.fail(
          fmt::format("model_type '{}': not supported: expected layers of attention and an "
                      "MLP, such as llama, qwen3, deepseek_v3, gpt_neox or bert",
                      config.model_type));
    }
    config.hidden = fields.count({"hidden_size", "n_embd", "n_embed", "d_model"});
    read_attention(fields, config);
    config.layers = fields.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    read_mlp(fields, config);
    config.vocabulary = fields.count_if_any({"vocab_size"}).value_or(0);
    config.tied_embeddings = fields.is_set("tie_word_embeddings");
    read_dtype(fields, config);
    return config;
  } catch (const Failure& failure) {
    return bad_input(failure.what());
  }
}

Expected<ModelConfig> read_model_config(const std::filesystem::path& file) {
  const auto text = read_text_file(file);
  if (!text) return error_of(text);
  auto config = parse_model_config(*text, file.string());
  if (config) config->name = model_name(file);
  return config;
}

}  // namespace overlaptune
