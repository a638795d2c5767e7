#include "tuner/model_config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tuner/text_file.hpp"

namespace overlaptune {
namespace {

using Json = nlohmann::json;
using Names = std::initializer_list<const char*>;  // the names that models have for one field

// Model types whose MLPs have two matrices (up, down), and three (gate, up, down).
constexpr std::array<std::string_view, 12> kPlainMlp{
    "gpt2",   "gpt_neox", "gpt_neo", "gptj",        "opt",        "bloom",
    "falcon", "phi",      "mpt",     "gpt_bigcode", "starcoder2", "codegen"};
constexpr std::array<std::string_view, 22> kGatedMlp{
    "llama",       "mistral",   "mixtral",     "qwen2",   "qwen2_moe",   "qwen3",
    "qwen3_moe",   "gemma",     "gemma2",      "gemma3",  "gemma3_text", "phi3",
    "cohere",      "cohere2",   "granite",     "olmo",    "olmo2",       "deepseek_v2",
    "deepseek_v3", "internlm2", "llama4_text", "mistral3"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Reads fields one after another and keeps the first error.
class Fields {
 public:
  Fields(const Json& object, std::string_view name) : object_(object), name_(name) {}

  /// The value of the first name that is present and not null.
  std::optional<std::int64_t> count_if_any(Names names, std::int64_t least = 1) {
    for (const char* field : names) {
      const auto found = object_.find(field);
      if (found == object_.end() || found->is_null()) continue;
      const bool in_range =
          found->is_number_unsigned() &&
          found->get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargestSize) &&
          found->get<std::int64_t>() >= least;
      if (in_range) return found->get<std::int64_t>();
      fail(fmt::format("{} = {}: expected a whole number from {} to 2^31 - 1", field,
                       shortened(*found), least));
      return least;
    }
    return std::nullopt;
  }

  std::int64_t count(Names names) {
    const auto value = count_if_any(names);
    if (!value) {
      fail(fmt::format("{} is missing: expected a whole number from 1 to 2^31 - 1",
                       fmt::join(names, " or ")));
    }
    return value.value_or(1);
  }

  std::string text_if_any(Names names) {
    for (const char* field : names) {
      const auto found = object_.find(field);
      if (found == object_.end() || found->is_null()) continue;
      if (found->is_string()) return found->get<std::string>();
      fail(fmt::format("{} = {}: expected a string", field, shortened(*found)));
    }
    return {};
  }

  void fail(const std::string& message) {
    if (!error_) error_ = Error{ErrorKind::bad_input, fmt::format("{}: {}", name_, message)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  static std::string shortened(const Json& value) {
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
  }

  const Json& object_;
  std::string_view name_;
  std::optional<Error> error_{};
};

void read_attention(Fields& fields, ModelConfig& config) {
  config.heads = fields.count({"num_attention_heads", "n_head", "n_heads"});
  config.kv_heads =
      fields.count_if_any({"num_key_value_heads", "num_kv_heads"}).value_or(config.heads);
  if (config.heads % config.kv_heads != 0) {
    fields.fail(
        fmt::format("num_key_value_heads = {}: expected a divisor of "
                    "num_attention_heads = {}",
                    config.kv_heads, config.heads));
  }
  const auto head_dim = fields.count_if_any({"head_dim"});
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

void read_mlp(Fields& fields, ModelConfig& config) {
  config.experts =
      fields.count_if_any({"num_local_experts", "num_experts", "n_routed_experts"}, 0).value_or(0);
  const std::string activation =
      fields.text_if_any({"hidden_act", "activation_function", "hidden_activation"});
  config.gated = contains(kGatedMlp, config.model_type);
  if (!config.gated && !contains(kPlainMlp, config.model_type)) {
    config.gated = activation.empty() || activation == "silu" || activation == "swish";
    config.notes.push_back(fmt::format("model_type '{}' is not known: its MLP is taken to be {}",
                                       config.model_type, config.gated ? "gated" : "not gated"));
  }
  if (config.experts > 0) return;
  const auto width =
      fields.count_if_any({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"});
  if (!width && config.gated) {
    fields.fail("intermediate_size is missing: expected a whole number from 1 to 2^31 - 1");
  }
  config.intermediate = width.value_or(4 * config.hidden);  // the default of the GPT-2 family
}

void read_dtype(Fields& fields, ModelConfig& config) {
  const std::string name = fields.text_if_any({"torch_dtype", "dtype"});
  if (name == "float16") {
    config.dtype = Dtype::fp16;
  } else if (!name.empty() && name != "bfloat16") {
    config.notes.push_back(fmt::format("torch_dtype '{}' is taken as bf16", name));
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
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::parse_error& error) {
    return bad_input(fmt::format("{}: not JSON (at byte {}): expected a Hugging Face config.json",
                                 name, error.byte));
  }
  if (!document.is_object()) {
    return bad_input(fmt::format("{}: a JSON {}: expected the object of a Hugging Face config.json",
                                 name, document.type_name()));
  }
  ModelConfig config;
  const auto nested = document.find("text_config");
  const bool is_nested = nested != document.end() && nested->is_object();
  if (is_nested) config.notes.emplace_back("vision and audio parts are skipped: only text_config");
  const Json& object = is_nested ? *nested : document;

  Fields fields(object, name);
  config.model_type = fields.text_if_any({"model_type"});
  config.hidden = fields.count({"hidden_size", "n_embd", "n_embed", "d_model"});
  read_attention(fields, config);
  read_mlp(fields, config);
  config.layers = fields.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  read_dtype(fields, config);
  if (fields.error()) return tl::make_unexpected(*fields.error());
  return config;
}

Expected<ModelConfig> read_model_config(const std::filesystem::path& file) {
  const auto text = read_text_file(file, kMostConfigBytes);
  if (!text) return error_of(text);
  auto config = parse_model_config(*text, file.string());
  if (config) config->name = model_name(file);
  return config;
}

}  // namespace overlaptune
