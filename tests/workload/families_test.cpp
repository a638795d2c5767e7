// Configs of many families beside the products that follow from their architectures.

#include "workload/families.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/workload/published.hpp"
#include "workload/config_parts.hpp"
#include "workload/workload.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::filesystem::path kRoot = OVERLAPTUNE_SOURCE_DIR;

std::string all(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}

/// ["qkv", n, k, times per pass] of each product with a collective.
json products(const Workload& work) {
  std::set<json> list;
  for (const LayerGemm& gemm : work.gemms) {
    list.insert(json::array(
        {to_string(gemm.product), gemm.problem.n, gemm.problem.k, gemm.times_per_pass}));
  }
  return list;
}

TEST(Families, products_of_published_architectures) {
  const auto cases = published::all();
  EXPECT_GE(cases.size(), 27U);
  for (const auto& [name, json_of_it, right] : cases) {
    SCOPED_TRACE(name);
    const auto config = parse_model_config(json_of_it.dump(), name);
    ASSERT_TRUE(config) << config.error().message;
    const auto work = workload(
        *config, {.tp = right.at("tp"), .tokens = {4096}, .parallelism = {Parallelism::sequence}});
    ASSERT_TRUE(work) << work.error().message;
    const json expected = right.at("products");
    EXPECT_EQ(products(*work), json(std::set<json>(expected.begin(), expected.end())));
    EXPECT_EQ(to_string(config->elements), right.at("dtype"));
    EXPECT_THAT(all(work->notes), testing::Not(HasSubstr("not known")));
    for (const std::string says : right.at("says")) EXPECT_THAT(all(work->notes), HasSubstr(says));
  }
}

/// The row of a type in the table of docs/models.md.
std::string row_in_docs(const std::string& type) {
  std::ifstream stream(kRoot / "docs/models.md");
  for (std::string line; std::getline(stream, line);) {
    const std::string types = line.substr(0, line.find(" | "));
    if (line.starts_with("| `") && types.find("`" + type + "`") != std::string::npos) return line;
  }
  return "";
}

TEST(Families, each_type_stands_in_one_row_and_in_the_docs_with_its_source) {
  std::set<std::string> seen;
  for (const Family& family : families()) {
    EXPECT_FALSE(family.source.empty());
    for (const std::string& type : family.types) {
      EXPECT_TRUE(seen.insert(type).second) << type;
      EXPECT_THAT(
          row_in_docs(type),
          testing::EndsWith(" | " + family.source + (family.checked ? " |" : " – not checked |")))
          << type;
    }
  }
}

std::string refusal(const std::string& text, const ReadingOptions& options = {}) {
  const auto config = parse_model_config(text, "config.json", options);
  return config ? "" : config.error().message;
}

constexpr const char* kUnknown =
    R"({"model_type": "my_model", "hidden_size": 1024, "intermediate_size": 4096,
        "num_attention_heads": 8, "num_hidden_layers": 4, "hidden_act": "silu",
        "flux_layers": [1, 2], "router_expert_groups": 4, "rope_theta": 1e4})";

TEST(Families, unknown_types_with_unknown_fields_are_refused_by_name) {
  EXPECT_THAT(refusal(kUnknown),
              testing::AllOf(HasSubstr("'my_model' is not known"),
                             HasSubstr("flux_layers, router_expert_groups"),
                             HasSubstr("--assume-dense"), testing::Not(HasSubstr("rope_theta"))));
  const auto dense = value_or_throw(parse_model_config(kUnknown, "", {.assume_dense = true}));
  EXPECT_TRUE(dense.assumed_dense);
  EXPECT_THAT(all(dense.assumptions), HasSubstr("flux_layers, router_expert_groups"));
}

TEST(Families, unknown_kinds_of_layers_are_passed_over_on_request) {
  std::string text = kUnknown;
  text.replace(text.find("flux_layers"), 11, "layer_types");
  text.replace(text.find("[1, 2]"), 6, R"(["flux", "attention", "flux", "flux"])");
  EXPECT_THAT(refusal(text), HasSubstr("layer_types has 'flux'"));
  const auto dense = value_or_throw(parse_model_config(text, "", {.assume_dense = true}));
  EXPECT_EQ(main_attention_layers(dense), 4);
  EXPECT_THAT(all(dense.assumptions), HasSubstr("layer_types"));
}

TEST(Families, known_types_with_unknown_fields_are_answered_with_their_names) {
  std::string text = kUnknown;
  text.replace(text.find("my_model"), 8, "llama");
  const auto config = value_or_throw(parse_model_config(text, ""));
  EXPECT_FALSE(config.assumed_dense);
  EXPECT_THAT(all(config.assumptions),
              HasSubstr("were not read, though they may change the layers: flux_layers"));
}

/// Fields of a small Llama-like model beside `fields`.
std::string with(const std::string& fields) {
  return R"({"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
             "num_key_value_heads": 8, "num_hidden_layers": 32, )" +
         fields + "}";
}

TEST(Families, names_that_speak_of_layers_are_known_in_many_forms) {
  const std::string unknown = R"("model_type": "my_model", "hidden_act": "silu", )";
  for (const std::string name :
       {"ffn_dim_multiplier", "ffn_multipliers", "qkv_multipliers", "use_glu", "token_mixer",
        "mixers", "H_cycles", "L_cycles", "num_iterations", "num_repeats", "n_passes",
        "num_recycles", "ff_mult", "global_every_n", "delta_net_every", "use_residual", "expand_v",
        "num_attention_groups"}) {
    EXPECT_THAT(refusal(with(unknown + '"' + name + R"(": 2)")), HasSubstr("layers: " + name));
  }
  // Fields of the base class of all configs, and of training, say nothing of the layers.
  EXPECT_EQ(refusal(with(unknown + R"("add_cross_attention": false, "is_encoder_decoder": false,
                                      "pruned_heads": {}, "output_hidden_states": true,
                                      "output_attentions": true, "num_beam_groups": 1,
                                      "no_repeat_ngram_size": 0, "chunk_size_feed_forward": 0,
                                      "moe_z_loss_coeff": 0.1, "moe_aux_loss_coeff": 0.1,
                                      "drop_vision_last_layer": false, "slice_config": {},
                                      "flash_attn": true, "mm_hidden_size": 1024,
                                      "tune_mm_mlp_adapter": false, "attention_multiplier": 2)")),
            "");
  EXPECT_THAT(refusal(with(unknown + R"("pruned_heads": {"1": [0]})")), HasSubstr("pruned_heads"));
}

// Published files of granite-4.0-micro, Jamba-Reasoning-3B, Llama-4-Scout and Falcon-40B have
// these.
TEST(Families, sizes_of_parts_that_a_model_lacks_are_not_missed) {
  for (const std::string fields :
       {R"("model_type": "granitemoehybrid", "layer_types": ["attention", "attention"],
           "num_hidden_layers": 2, "num_local_experts": 0, "num_experts_per_tok": 0,
           "shared_intermediate_size": 8192, "mamba_chunk_size": 256, "mamba_conv_bias": true,
           "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 256, "mamba_expand": 2,
           "mamba_n_groups": 1, "mamba_n_heads": 80, "mamba_proj_bias": false)",
        R"("model_type": "jamba", "attn_layer_offset": 0, "attn_layer_period": 2,
           "num_hidden_layers": 4, "num_experts": 1, "num_experts_per_tok": 1,
           "expert_layer_offset": 1, "expert_layer_period": 2)",
        R"("model_type": "llama4_text", "num_hidden_layers": 4, "num_local_experts": 16,
           "num_experts_per_tok": 1, "interleave_moe_layer_step": 1,
           "intermediate_size_mlp": 16384)",
        R"("model_type": "falcon", "num_hidden_layers": 4, "new_decoder_architecture": true,
           "multi_query": true, "num_kv_heads": 8)"}) {
    const std::string text =
        R"({"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, )" +
        fields + "}";
    const auto config = value_or_throw(parse_model_config(text, ""));
    EXPECT_THAT(all(config.assumptions), testing::Not(HasSubstr("were not read"))) << text;
  }
}

TEST(Families, a_class_of_images_has_a_language_model_of_another_family) {
  const std::string inner = R"("hidden_size": 4096, "intermediate_size": 14336, "head_dim": 128,
                               "num_attention_heads": 32, "num_hidden_layers": 34)";
  const auto notes = [&](const char* architecture) {
    return all(
        value_or_throw(parse_model_config(R"({"model_type": "mistral3", "architectures": [")" +
                                              std::string(architecture) +
                                              R"("], "text_config": {"model_type":
                                                        "ministral3", )" +
                                              inner + "}}",
                                          ""))
            .assumptions);
  };
  EXPECT_THAT(notes("Mistral3ForConditionalGeneration"),
              testing::Not(HasSubstr("architectures says")));
  EXPECT_THAT(notes("Qwen2ForCausalLM"), HasSubstr("architectures says"));
}

TEST(Families, a_second_stack_of_layers_is_refused) {
  const std::string both = R"("is_encoder_decoder": true)";
  for (const char* type : {"llama", "my_model"}) {
    const std::string named = R"("hidden_act": "silu", "model_type": ")" + std::string(type) + '"';
    const std::string text = with(named + ", " + both);
    EXPECT_THAT(refusal(text), HasSubstr("is_encoder_decoder = true: not supported"));
    EXPECT_THAT(refusal(R"({"text_config": )" + text + "}"), HasSubstr("is_encoder_decoder"));
    EXPECT_THAT(refusal("{" + both + R"(, "text_config": )" + with(named) + "}"),
                HasSubstr("is_encoder_decoder"));
    const auto dense = value_or_throw(parse_model_config(text, "", {.assume_dense = true}));
    EXPECT_THAT(all(dense.assumptions), HasSubstr("is_encoder_decoder"));
  }
}

TEST(Families, two_names_of_one_size_agree) {
  const std::string llama = R"("model_type": "llama", )";
  EXPECT_EQ(refusal(with(llama + R"("n_embd": 4096, "n_layer": 32, "num_kv_heads": 8)")), "");
  EXPECT_THAT(refusal(with(llama + R"("n_embd": 2048)")),
              HasSubstr("hidden_size = 4096 and n_embd = 2048: two names of one size"));
  EXPECT_THAT(refusal(with(llama + R"("n_layer": 16)")), HasSubstr("and n_layer = 16"));
  EXPECT_THAT(refusal(with(llama + R"("n_head": 16)")), HasSubstr("and n_head = 16"));
  EXPECT_THAT(refusal(with(llama + R"("num_query_groups": 4)")), HasSubstr("num_query_groups = 4"));
  EXPECT_THAT(refusal(with(llama + R"("n_inner": 1024)")), HasSubstr("and n_inner = 1024"));
  EXPECT_THAT(refusal(with(llama + R"("head_dim": 128, "kv_channels": 64)")),
              HasSubstr("head_dim = 128 and kv_channels = 64"));
  const std::string experts = R"("model_type": "qwen3_moe", "num_experts": 128, )";
  EXPECT_THAT(refusal(with(experts + R"("n_routed_experts": 64)")),
              HasSubstr("num_experts = 128 and n_routed_experts = 64"));
  EXPECT_THAT(refusal(with(experts + R"("num_experts_per_tok": 8, "moe_topk": [4, 4])")),
              HasSubstr("num_experts_per_tok = 8 and moe_topk = 4"));
  const auto config = value_or_throw(parse_model_config(
      with(llama + R"("torch_dtype": "float16", "dtype": "bfloat16")"), "config.json"));
  EXPECT_THAT(all(config.assumptions),
              HasSubstr(R"(torch_dtype = "float16" and dtype = "bfloat16")"));
}

TEST(Families, names_of_gated_units_mean_a_gate) {
  const auto is_gated = [](const std::string& fields) {
    return value_or_throw(parse_model_config(with(fields), "config.json")).gated;
  };
  EXPECT_FALSE(is_gated(R"("model_type": "gpt2", "activation_function": "gelu_new")"));
  EXPECT_TRUE(is_gated(R"("model_type": "gpt2", "activation_function": "swiglu")"));
  EXPECT_TRUE(is_gated(R"("model_type": "jais", "activation_function": "swiglu")"));
  EXPECT_FALSE(is_gated(R"("model_type": "bert", "hidden_act": "gelu")"));
  EXPECT_FALSE(is_gated(R"("model_type": "bert", "feed_forward_type": "original")"));
  EXPECT_TRUE(is_gated(R"("model_type": "bert", "feed_forward_type": "geglu")"));
  EXPECT_TRUE(is_gated(R"("model_type": "bert", "feed_forward_type": "reglu")"));
  EXPECT_THAT(refusal(with(R"("model_type": "bert", "feed_forward_type": "conv")")),
              HasSubstr(R"(feed_forward_type = conv: expected original)"));
}

TEST(Families, groups_of_queries_are_heads_of_keys) {
  const auto config = value_or_throw(parse_model_config(
      R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
          "num_attention_heads": 32, "num_hidden_layers": 32, "num_query_groups": 8})",
      ""));
  EXPECT_EQ(config.kv_heads, 8);
}

TEST(Families, rows_that_were_not_checked_say_so) {
  const auto said = [](const std::string& type) {
    return all(value_or_throw(parse_model_config(with(R"("model_type": ")" + type + '"'), ""))
                   .assumptions);
  };
  EXPECT_THAT(said("minicpm"), HasSubstr("tie_word_embeddings = true"));
  EXPECT_THAT(said("minicpm"), HasSubstr("'minicpm' were not compared with its class"));
  EXPECT_THAT(said("internlm3"), HasSubstr("tie_word_embeddings = false"));
  EXPECT_THAT(said("my_model"), HasSubstr("tie_word_embeddings = false"));
  EXPECT_THAT(said("llama"), testing::Not(HasSubstr("compared")));
}

TEST(Families, values_with_other_products_are_refused) {
  const auto config = [](const std::string& fields) {
    return refusal(R"({"hidden_size": 1536, "num_attention_heads": 24, "num_hidden_layers": 12,
                       "intermediate_size": 6144, )" +
                   fields + "}");
  };
  const std::string dinov2 = R"("model_type": "dinov2", "mlp_ratio": 4)";
  EXPECT_EQ(config(dinov2), "");
  EXPECT_EQ(config(dinov2 + R"(, "use_swiglu_ffn": false)"), "");
  EXPECT_EQ(config(dinov2 + R"(, "use_swiglu_ffn": null)"), "");
  EXPECT_THAT(config(dinov2 + R"(, "use_swiglu_ffn": true)"),
              HasSubstr("use_swiglu_ffn = true: the layers of model_type 'dinov2' are known with "
                        "false only"));
  const std::string albert = R"("model_type": "albert")";
  EXPECT_EQ(config(albert), "");
  EXPECT_THAT(config(albert + R"(, "inner_group_num": 2)"), HasSubstr("inner_group_num = 2"));
  EXPECT_THAT(config(albert + R"(, "num_hidden_groups": 5)"), HasSubstr("divides the 12 layers"));
}

/// Twelve layers in three groups are four rounds of three layers' weights.
TEST(Families, groups_of_layers_share_weights) {
  const auto config = value_or_throw(parse_model_config(
      R"({"model_type": "albert", "hidden_size": 1024, "num_attention_heads": 16,
          "num_hidden_layers": 12, "num_hidden_groups": 3, "intermediate_size": 4096})",
      ""));
  EXPECT_EQ(config.layers, 3);
  EXPECT_EQ(config.loops, 4);
}

TEST(Families, lists_of_layers_are_checked) {
  const auto bamba = [](const std::string& fields) {
    return refusal(R"({"model_type": "bamba", "hidden_size": 1024, "intermediate_size": 4096,
                       "num_attention_heads": 8, "num_hidden_layers": 4)" +
                   fields + "}");
  };
  EXPECT_THAT(bamba(""), HasSubstr("attn_layer_indices is missing"));
  EXPECT_THAT(bamba(R"(, "attn_layer_indices": [4])"), HasSubstr("has layer 4: expected less"));
  EXPECT_THAT(bamba(R"(, "attn_layer_indices": [])"), HasSubstr("no layer has attention"));
  EXPECT_THAT(bamba(R"(, "layer_types": ["mamba", "attention"])"),
              HasSubstr("layer_types has 2 entries: expected one for each of 4 layers"));
  EXPECT_THAT(bamba(R"(, "layer_types": ["mamba", "attention", "flux", "mamba"])"),
              HasSubstr("layer_types has 'flux'"));
  EXPECT_THAT(bamba(R"(, "num_key_value_heads": [8, 8], "attn_layer_indices": [0])"),
              HasSubstr("one for each of 4 layers"));
}

TEST(Families, a_default_stands_in_for_what_is_absent_but_not_for_null) {
  const auto kv_heads = [](const std::string& field) {
    const std::string text =
        R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
            "num_attention_heads": 32, "num_hidden_layers": 32)" +
        field + "}";
    return value_or_throw(parse_model_config(text, "")).kv_heads;
  };
  EXPECT_EQ(kv_heads(""), 8);
  EXPECT_EQ(kv_heads(R"(, "num_key_value_heads": null)"), 32);
  EXPECT_EQ(kv_heads(R"(, "num_key_value_heads": 4)"), 4);
}

TEST(Families, the_first_window_with_a_size_cuts_attention_off) {
  const auto window = [](const std::string& fields) {
    const std::string text =
        R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096,
            "num_attention_heads": 8, "num_hidden_layers": 2)" +
        fields + "}";
    return value_or_throw(parse_model_config(text, "")).window;
  };
  EXPECT_EQ(window(""), 0);
  EXPECT_EQ(window(R"(, "sliding_window": 1024)"), 1024);
  EXPECT_EQ(window(R"(, "attention_chunk_size": 512)"), 512);
  EXPECT_EQ(window(R"(, "attention_window_size": 256)"), 256);
  EXPECT_EQ(window(R"(, "sliding_window": null, "attention_chunk_size": 512)"), 512);
  EXPECT_EQ(window(R"(, "sliding_window": 0, "attention_window_size": 256)"), 256);
  EXPECT_EQ(window(R"(, "sliding_window": 1024, "use_sliding_window": true)"), 1024);
  EXPECT_EQ(window(R"(, "sliding_window": 1024, "use_sliding_window": false)"), 0);
}

TEST(Families, encoders_have_no_causal_mask) {
  const auto is_causal = [](const std::string& fields) {
    const std::string text =
        R"({"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
            "num_key_value_heads": 12, "num_hidden_layers": 12, )" +
        fields + "}";
    return value_or_throw(parse_model_config(text, "")).causal;
  };
  EXPECT_TRUE(is_causal(R"("model_type": "llama", "architectures": ["LlamaForCausalLM"])"));
  EXPECT_FALSE(is_causal(R"("model_type": "llama", "architectures": ["LlamaBidirectionalModel"])"));
  EXPECT_FALSE(is_causal(R"("model_type": "bert")"));
  EXPECT_TRUE(is_causal(R"("model_type": "bert", "is_decoder": true)"));
  EXPECT_FALSE(is_causal(R"("model_type": "modernbert")"));
  EXPECT_FALSE(is_causal(R"("model_type": "vit")"));
  EXPECT_FALSE(is_causal(R"("model_type": "gemma3_text", "use_bidirectional_attention": true)"));
  EXPECT_FALSE(is_causal(R"("model_type": "qwen2", "is_causal": false)"));
  EXPECT_FALSE(is_causal(R"("model_type": "new", "architectures": ["NewForMaskedLM"])"));
  EXPECT_FALSE(is_causal(R"("model_type": "new", "architectures": ["NewEncoderModel"])"));
}

/// The defaults that a class has for sizes count where its config stands in another one only.
TEST(Families, sizes_may_be_left_out_of_a_nested_config_alone) {
  const std::string llama = R"({"model_type": "llama", "vocab_size": 32064})";
  EXPECT_THAT(refusal(llama), HasSubstr("hidden_size or n_embd"));
  EXPECT_THAT(refusal(R"({"model_type": "new", "language": )" + llama + "}"),
              testing::AllOf(HasSubstr("hidden_size or n_embd"), HasSubstr("'new' is not known"),
                             HasSubstr("not looked into: language")));
  const auto nested = value_or_throw(
      parse_model_config(R"({"model_type": "llava", "text_config": )" + llama + "}", ""));
  EXPECT_EQ(nested.hidden, 4096);
  EXPECT_EQ(nested.layers, 32);
  EXPECT_THAT(all(nested.assumptions), HasSubstr("intermediate_size = 11008"));
}

TEST(Families, a_language_model_lies_within_a_few_levels) {
  const auto levels = [](int nested) {
    json document = {{"hidden_size", 1024}};
    for (int i = 0; i < nested; ++i) document = {{"text_config", document}};
    return find_language_model(document).size();
  };
  EXPECT_EQ(levels(0), 0U);
  EXPECT_EQ(levels(1), 1U);
  EXPECT_EQ(levels(3), 3U);
  EXPECT_EQ(levels(6), 3U);
}

TEST(Families, heads_of_keys_by_layer) {
  const auto config = value_or_throw(parse_model_config(
      R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096,
          "num_attention_heads": 8, "num_hidden_layers": 3, "num_key_value_heads": [8, 2, 8]})",
      ""));
  const auto work = value_or_throw(
      workload(config, {.tp = 2, .tokens = {64}, .parallelism = {Parallelism::sequence}}));
  EXPECT_THAT(products(work), testing::IsSupersetOf({json{"qkv", (4 + 2 * 4) * 128, 1024, 2},
                                                     json{"qkv", (4 + 2 * 1) * 128, 1024, 1},
                                                     json{"o", 1024, 512, 3}}));
}

// BitNetMLP: down(ffn_sub_norm(relu2(gate(x)) * up(x))). Names of activations with a gate: those of
// vLLM (silu_and_mul), of T5 (gated-gelu), and with other letters.
TEST(Families, gates_have_many_names) {
  const auto is_gated = [](const std::string& fields) {
    return value_or_throw(parse_model_config(with(fields), "")).gated;
  };
  EXPECT_TRUE(is_gated(R"("model_type": "bitnet", "hidden_act": "relu2")"));
  for (const std::string name : {"SwiGLU", "swiglu", "GEGLU", "gated-gelu", "gated_silu",
                                 "silu_and_mul", "gelu_and_mul", "SiLU"}) {
    EXPECT_TRUE(is_gated(R"("model_type": "my_model", "hidden_act": ")" + name + '"')) << name;
  }
  EXPECT_TRUE(is_gated(R"("model_type": "gpt2", "activation_function": "SwiGLU")"));
  for (const std::string name : {"gelu", "relu2", "GELU_new"}) {
    EXPECT_FALSE(is_gated(R"("model_type": "my_model", "hidden_act": ")" + name + '"')) << name;
  }
}

// FalconAttention: 3 * hidden_size without multi_query and without the newer decoder, whatever
// num_kv_heads says.
TEST(Families, falcon_without_multi_query_has_as_many_heads_of_keys) {
  const auto falcon = [](const std::string& fields) {
    return value_or_throw(
        parse_model_config(R"({"model_type": "falcon", "hidden_size": 4096, "num_hidden_layers": 2,
                               "num_attention_heads": 64, "num_kv_heads": 8, )" +
                               fields + "}",
                           ""));
  };
  const auto old = falcon(R"("multi_query": false, "new_decoder_architecture": false)");
  EXPECT_EQ(old.kv_heads, 64);
  EXPECT_THAT(all(old.assumptions), testing::Not(HasSubstr("num_key_value_heads")));
  EXPECT_EQ(falcon(R"("multi_query": true)").kv_heads, 1);
  EXPECT_EQ(falcon(R"("multi_query": true, "new_decoder_architecture": true)").kv_heads, 8);
}

// vLLM's qwen3_next.py reads attn_output_gate; the class in transformers always has the gate.
TEST(Families, a_gate_that_the_file_takes_away_is_said) {
  const auto qwen = [](const std::string& value) {
    return value_or_throw(parse_model_config(
        with(R"("model_type": "qwen3_5_text", "layer_types": ["full_attention")" +
             [] {
               std::string others;
               for (int i = 1; i < 32; ++i) others += R"(, "linear_attention")";
               return others;
             }() +
             R"(], "attn_output_gate": )" + value),
        ""));
  };
  EXPECT_TRUE(qwen("true").query_gate);
  EXPECT_FALSE(qwen("false").query_gate);
  EXPECT_THAT(all(qwen("false").assumptions), HasSubstr("attn_output_gate = false"));
  EXPECT_THAT(all(qwen("true").assumptions), testing::Not(HasSubstr("attn_output_gate")));
}

TEST(Families, widths_of_layers_are_bounded) {
  const auto with_widths = [](std::size_t different) {
    json model = json::parse(with(R"("model_type": "llama")"));
    json widths = json::array();
    for (std::size_t i = 0; i < 1000; ++i) widths.push_back(64 * (1 + i % different));
    model["num_hidden_layers"] = widths.size();
    model["intermediate_size"] = widths;
    return refusal(model.dump());
  };
  EXPECT_EQ(with_widths(kMostWidths), "");
  EXPECT_THAT(with_widths(kMostWidths + 1),
              HasSubstr("intermediate_size has 501 different widths: expected at most 500"));
}

TEST(Families, flags_and_counts_of_layers_that_cannot_be_are_refused) {
  EXPECT_THAT(refusal(with(R"("model_type": "gemma3n_text", "num_kv_shared_layers": 99)")),
              HasSubstr("num_kv_shared_layers = 99: expected less than the 32 layers"));
  EXPECT_THAT(
      refusal(R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "intermediate_size": 16384,
                  "num_attention_heads": 64, "num_hidden_layers": 3,
                  "hybrid_layer_pattern": [0, 1, 2]})"),
      HasSubstr("hybrid_layer_pattern has 2: expected 0 or 1"));
}

}  // namespace
}  // namespace overlaptune
