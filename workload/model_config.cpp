#include "workload/model_config.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text_file.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"
#include "workload/config_parts.hpp"
#include "workload/quantization.hpp"
#include "workload/unquantized_modules.hpp"

namespace overlaptune {
namespace {

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

/// The name under which the model was published, "Llama-3-8B" of "meta-llama/Llama-3-8B"; empty
/// where the file does not say it. A path on the host that wrote the file is no name.
std::string published_name(const nlohmann::json& document) {
  const auto found = document.find("_name_or_path");
  if (found == document.end() || !found->is_string()) return {};
  const auto name = found->get<std::string>();
  constexpr std::string_view kOfPaths = "\\~ ";
  const bool is_path =
      std::count(name.begin(), name.end(), '/') > 1 || name.find_first_of(kOfPaths) != name.npos;
  if (name.empty() || is_path || name.front() == '/' || name.front() == '.') return {};
  return name.substr(name.find_last_of('/') + 1);
}

/// The name as one word of a table: control characters become underscores.
std::string one_word(std::string name) {
  for (char& c : name) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '_';
  }
  return name;
}

/// The objects from the file's own to that of the language model.
using Levels = std::vector<JsonReader>;

Levels levels_of(const JsonReader& root, const Nesting& nesting) {
  Levels levels;
  levels.reserve(nesting.size() + 1);  // a reader refers to the one that it was made from
  levels.push_back(root);
  for (const std::string& name : nesting) levels.push_back(levels.back()[name]);
  return levels;
}

/// The text at the innermost level that has one of `names`; empty where none has.
std::string text_at_any_level(const Levels& levels, ConfigFields::Names names) {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    std::string text = ConfigFields(*level).text_if_any(names);
    if (!text.empty()) return text;
  }
  return {};
}

struct Quantized {
  Quantization how{};
  UnquantizedModules kept{};
};

/// ChatGLM's own field: the bits of weights that are quantised when they are loaded.
std::optional<Quantized> quantised_by_bits(const JsonReader& level) {
  const char* const name = "quantization_bit";
  if (!level.has(name) || level[name].is_integer(0, 0)) return {};
  return Quantized{.how = {.method = fmt::format("{} = {}", name, level[name].shown())}};
}

/// How the products are quantised, wherever the note stands. A note of another kind than an object
/// is not read: its name and value stand for the method.
std::optional<Quantized> quantisation(const Levels& levels, const NumberedLayers& layers,
                                      const ModelConfig& config) {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (const char* name : {"quantization_config", "compression_config"}) {
      if (!level->has(name)) continue;
      const JsonReader described = (*level)[name];
      if (!described.is_object()) {
        return Quantized{.how = {.method = fmt::format("{} = {}", name, described.shown())}};
      }
      Quantized found{.how = quantization_of(described, config.elements)};
      if (found.how.elements) found.kept = unquantized_modules(described, layers, config);
      return found;
    }
    if (auto by_bits = quantised_by_bits(*level)) return by_bits;
  }
  return {};
}

void say_two_dtypes(const Levels& levels, ModelConfig& config) {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (!level->has("torch_dtype") && !level->has("dtype")) continue;
    if (!level->has("torch_dtype") || !level->has("dtype")) return;
    const std::string first = (*level)["torch_dtype"].shown();
    const std::string second = (*level)["dtype"].shown();
    if (first != second) {
      config.assumptions.push_back(
          fmt::format("torch_dtype = {} and dtype = {}: the first is taken", first, second));
    }
    return;
  }
}

/// The words about modules that a file leaves as they are, and about fields that are not read.
std::string exceptions_of(const Quantized& quantised, Elements plain) {
  const UnquantizedModules& kept = quantised.kept;
  std::vector<std::string> products;
  for (const Product product : kept.products) {
    if (product != Product::combine) products.emplace_back(to_string(product));
  }
  std::string text;
  if (!products.empty()) {
    text += fmt::format(
        ", but for those that the file leaves in 16 bits: {} as {} (`sequences` takes all of them "
        "alike)",
        fmt::join(products, ", "), to_string(plain));
  }
  if (!kept.partly.empty()) {
    text += fmt::format("; taken alike, though the file leaves a part in 16 bits: {}",
                        fmt::join(kept.partly, ", "));
  }
  if (!kept.unread.empty()) {
    text += fmt::format("; modules that are not known in its list: {}", names_in(kept.unread));
  }
  if (!quantised.how.unknown_fields.empty()) {
    text += fmt::format("; fields of quantization_config that are not known were not read: {}",
                        names_in(quantised.how.unknown_fields));
  }
  return text;
}

void read_dtype(const Levels& levels, const NumberedLayers& layers, ModelConfig& config) {
  say_two_dtypes(levels, config);
  const std::string name = text_at_any_level(levels, {"torch_dtype", "dtype"});
  if (name == "float16") {
    config.elements = Elements::fp16;
  } else if (name.empty()) {
    config.assumptions.emplace_back("torch_dtype is not in the file: bf16 is taken");
  } else if (name != "bfloat16") {
    config.assumptions.push_back(fmt::format("torch_dtype '{}' is taken as bf16", name));
  }
  config.plain_elements = config.elements;
  const auto quantised = quantisation(levels, layers, config);
  if (!quantised) return;
  if (!quantised->how.sparsity.empty()) {
    config.assumptions.push_back(
        fmt::format("the weights are sparse (sparsity_config: {}): the products are taken as dense "
                    "ones",
                    quantised->how.sparsity));
  }
  config.elements = quantised->how.elements.value_or(config.elements);
  config.in_16_bits = quantised->kept.products;
  config.assumptions.push_back(
      fmt::format("the weights are quantized ({}): the products are taken as {}{}",
                  quantised->how.method, to_string(config.elements),
                  quantised->how.elements ? exceptions_of(*quantised, config.plain_elements)
                                          : ", so times with quantized weights differ"));
}

/// Whether the output projection is the embedding. A level further out counts only where the
/// language model does not say it, and before the default of its class.
bool is_tied(const Levels& levels, const Family& family, ConfigFields& fields) {
  fields.know({"tie_word_embeddings", "tie_embedding"});
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (const char* name : {"tie_word_embeddings", "tie_embedding"}) {
      if (level->has(name)) return (*level)[name].boolean();
    }
  }
  const bool is_sure = family.is_known() && family.checked;
  if (!is_sure && !fields.has_default("tie_word_embeddings")) {
    fields.add_default("tie_word_embeddings = false");
  }
  return fields.is_set("tie_word_embeddings");
}

/// Why the family of a config is not read.
void check_type(const ConfigFields& fields, const std::string& type) {
  if (const std::string why = other_products(type); !why.empty()) {
    fields.fail(
        fmt::format("model_type '{}': not supported: {}: expected layers of attention and "
                    "an MLP, such as llama, qwen3, deepseek_v3, gpt_neox or bert",
                    type, why));
  }
}

/// Layers of a decoder with cross-attention, and those of an encoder, are not counted.
void check_one_stack(const nlohmann::json& document, const Nesting& nesting,
                     const ConfigFields& fields) {
  const nlohmann::json* object = &document;
  const auto check = [&] {
    const auto found = object->find("is_encoder_decoder");
    if (found == object->end() || *found != true) return;
    fields.fail(
        "is_encoder_decoder = true: not supported: an encoder and a decoder with cross-attention: "
        "expected one stack of layers, or --assume-dense to take the layers without it");
  };
  check();
  for (const std::string& name : nesting) {
    object = &object->at(name);
    check();
  }
}

void check_needs(ConfigFields& fields, const Family& family) {
  for (const std::string& need : family.needs) {
    if (!fields.has(need.c_str())) {
      fields.fail(
          fmt::format("{} is missing: the layers of model_type '{}' are not known without "
                      "it",
                      need, family.types.front()));
    }
  }
}

/// Refuses values that change the products of a family, and passes over fields that do not.
void check_values(ConfigFields& fields, const nlohmann::json& model, const Family& family) {
  for (const auto& [name, expected] : family.expects.items()) {
    fields.know({name.c_str()});
    const auto found = model.find(name);
    if (found == model.end() || found->is_null() || *found == expected) continue;
    fields.fail(fmt::format("{} = {}: the layers of model_type '{}' are known with {} only", name,
                            one_line(found->dump(), 40), family.types.front(), expected.dump()));
  }
  fields.know_all(family.passed_over);
}

/// Refuses or says what nobody read.
void judge_unknown(const ConfigFields& fields, const UnknownFields& unknown, const Family& family,
                   const ReadingOptions& options, ModelConfig& config) {
  if (!family.is_known() && !unknown.of_layers.empty() && !options.assume_dense) {
    fields.fail(
        fmt::format("model_type '{}' is not known, and neither are fields that speak of its "
                    "layers: {}: expected one of the types in docs/models.md, or --assume-dense to "
                    "pass over these fields",
                    config.model_type, names_in(unknown.of_layers)));
  }
  if (!family.is_known() && options.assume_dense) config.assumed_dense = true;
  std::vector<std::string> names = unknown.of_layers;
  names.insert(names.end(), unknown.others.begin(), unknown.others.end());
  if (names.empty()) return;
  config.assumptions.push_back(
      fmt::format("fields that are not known were not read{}: {}",
                  unknown.of_layers.empty() ? "" : ", though they may change the layers",
                  names_in(std::move(names))));
}

/// Whether attention and MLP of a layer read the same input, so that their outputs may be summed
/// before one all-reduce.
bool reads_one_input(ConfigFields& fields, const Family& family) {
  if (fields.has("use_parallel_residual")) return fields.is_set("use_parallel_residual");
  // Falcon, whose newer decoders always do.
  if (fields.has("parallel_attn") && !fields.is_set("new_decoder_architecture")) {
    return fields.is_set("parallel_attn");
  }
  return family.shares_all_reduce;
}

void say_parts(ConfigFields& fields, const Family& family, ModelConfig& config) {
  if (config.ranks.output_rank > 0) {
    config.assumptions.emplace_back(
        "o is the last of two products behind attention: the one before it is of groups of heads, "
        "and left out");
  }
  if (reads_one_input(fields, family)) {
    config.assumptions.emplace_back(
        "attention and MLP of a layer read the same input: a program may sum up o and down in one "
        "all-reduce, and gather their input once; here each has its own");
  }
  if (config.experts > 0 && config.expert_hidden != config.hidden) {
    config.assumptions.push_back(
        fmt::format("experts have rows of {} (moe_latent_size): the products from the hidden "
                    "states to these rows and back are left out",
                    config.expert_hidden));
  }
  if (config.per_layer_inputs > 0) {
    config.assumptions.emplace_back("the products of per-layer inputs are left out");
  }
  if (config.loops > 1) {
    config.assumptions.push_back(fmt::format("the layers run {} times in each pass", config.loops));
  }
  if (!fields.defaults_used().empty()) {
    config.assumptions.push_back(
        fmt::format("not in the file: {}", fmt::join(fields.defaults_used(), ", ")));
  }
  if (!family.checked) {
    config.assumptions.push_back(
        fmt::format("the defaults of model_type '{}' were not compared with its class",
                    one_line(config.model_type, 40)));
  }
}

/// The defaults of a family, but for fields that the file has as null: it wants none.
nlohmann::json defaults_of(const Family& family, const nlohmann::json& document,
                           const Nesting& nesting) {
  nlohmann::json defaults = family.defaults;
  if (!nesting.empty()) defaults.update(family.nested_defaults);
  for (const auto& [name, value] : language_model(document, nesting).items()) {
    if (value.is_null()) defaults.erase(name);
  }
  return defaults;
}

constexpr ConfigFields::Names kHiddenSize{"hidden_size", "n_embd", "n_embed", "d_model"};
constexpr ConfigFields::Names kLayerCount{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};

std::int64_t read_layer_count(ConfigFields& fields) {
  fields.expect_one_value(kLayerCount);
  const auto layers = fields.count_if_any(kLayerCount);
  if (layers && *layers > kMostLayers) {
    fields.fail(fmt::format("num_hidden_layers = {}: expected at most {}", *layers, kMostLayers));
  }
  if (layers) return *layers;
  // Nemotron-H since transformers 5 has the list only.
  if (const auto blocks = fields.texts_if_any({"layers_block_type"}); blocks && !blocks->empty()) {
    return std::ssize(*blocks);
  }
  fields.fail_missing(kLayerCount);
}

/// ALBERT's layers are in groups, each of which runs one layer's weights again and again.
void share_weights(ConfigFields& fields, ModelConfig& config) {
  const auto groups = fields.count_if_any({"num_hidden_groups"});
  if (!groups) return;
  if (config.layers % *groups != 0) {
    fields.fail(fmt::format("num_hidden_groups = {}: expected a number that divides the {} layers",
                            *groups, config.layers));
  }
  config.loops *= config.layers / *groups;
  config.layers = *groups;
}

/// Fills the config from the language model's fields, and returns its layers.
std::vector<Layer> read_sizes(ConfigFields& fields, const Family& family, bool assume_dense,
                              ModelConfig& config) {
  fields.expect_one_value(kHiddenSize);
  config.hidden = fields.count(kHiddenSize);
  config.layers = read_layer_count(fields);
  config.loops =
      fields.count_if_any({"total_ut_steps", "num_loops", "num_recurrent_steps"}).value_or(1);
  share_weights(fields, config);
  config.experts = read_expert_count(fields, family, config.layers);
  auto layers = read_layers(fields, family, config.layers, config.experts,
                            !family.is_known() && assume_dense);
  read_attention(fields, family, layers, config);
  read_mlp(fields, family, layers, assume_dense, config);
  if (config.expert_layers == 0) config.experts = 0;
  read_other_layers(fields, family, layers, config);
  config.per_layer_inputs = fields.count_if_any({"hidden_size_per_layer_input"}, 0).value_or(0);
  return layers;
}

ModelConfig read_document(const nlohmann::json& document, std::string_view name,
                          const ReadingOptions& options) {
  const JsonReader root(document, name);
  if (!root.is_object()) {
    root.fail("expected the object of a Hugging Face config.json, found " + root.shown());
  }
  const Nesting nesting = find_language_model(document);
  const Levels levels = levels_of(root, nesting);
  ModelConfig config;
  config.name = published_name(document);
  if (!nesting.empty()) {
    config.assumptions.push_back(
        fmt::format("vision and audio parts are skipped: only {}", fmt::join(nesting, ".")));
  }
  config.model_type = text_at_any_level(levels, {"model_type"});
  const Family& family = find_family(config.model_type);
  ConfigFields fields(levels.back(), defaults_of(family, document, nesting));
  fields.explain_missing(why_missing(language_model(document, nesting), config.model_type, family));
  static_cast<void>(fields.text_if_any({"model_type"}));
  check_type(fields, config.model_type);
  if (!options.assume_dense) check_one_stack(document, nesting, fields);
  check_needs(fields, family);
  check_values(fields, language_model(document, nesting), family);
  NumberedLayers layers{.layers = read_sizes(fields, family, options.assume_dense, config)};
  layers.predicting =
      first_positive(language_model(document, nesting),
                     {"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"});
  config.vocabulary = fields.count_if_any({"vocab_size", "padded_vocab_size"}).value_or(0);
  config.embedding_width = fields.count_if_any({"word_embed_proj_dim"}).value_or(config.hidden);
  config.tied_embeddings = is_tied(levels, family, fields);
  read_mask(document, nesting, family, config);
  if (!family.left_out.empty()) config.assumptions.push_back(family.left_out);
  config.not_counted = family.not_counted;
  say_architecture(document, config);
  read_dtype(levels, layers, config);
  say_parts(fields, family, config);
  judge_unknown(fields, unknown_fields(document, nesting, fields), family, options, config);
  return config;
}

}  // namespace

Expected<ModelConfig> parse_model_config(std::string_view json, std::string_view name,
                                         const ReadingOptions& options) {
  return outcome_of([&] { return read_document(parse_unique_json(json, name), name, options); });
}

Expected<ModelConfig> read_model_config(const std::filesystem::path& file,
                                        const ReadingOptions& options) {
  const auto text = read_text_file(file);
  if (!text) return error_of(text);
  auto config = parse_model_config(*text, file.string(), options);
  if (!config) return config;
  // A file that has a name of its own is called by it: several may be of one model.
  const bool own_name = config->name.empty() || file.filename() != "config.json";
  config->name = one_word(own_name ? name_in_path(file) : config->name);
  return config;
}

}  // namespace overlaptune
