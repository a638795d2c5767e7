#include <gtest/gtest.h>

#include "tests/workload/models.hpp"

namespace overlaptune {
namespace {

/// A Llama whose file has this `quantization_config`.
Workload quantised(const std::string& described) {
  return of_text(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
                     "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
                     "vocab_size": 128256, "torch_dtype": "bfloat16", "quantization_config": )" +
                     described + "}",
                 4);
}

std::string compressed(const char* weights, const char* inputs) {
  return std::string(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": )") +
         weights + R"(, "input_activations": )" + inputs + "}}}";
}

constexpr const char* kByChannel = R"({"num_bits": 8, "type": "float", "strategy": "channel"})";
constexpr const char* kByTensor = R"({"num_bits": 8, "type": "float", "strategy": "tensor"})";
constexpr const char* kByToken =
    R"({"num_bits": 8, "type": "float", "strategy": "token", "dynamic": true})";

// Fields as published files have them: RedHatAI's FP8-dynamic and FP8 models, NVIDIA's FP8 models,
// Meta's of FBGEMM, and vLLM's own.
TEST(Quantization, names_of_8_bit_products_are_known) {
  for (const auto& [described, elements] : std::initializer_list<std::pair<std::string, Elements>>{
           {compressed(kByChannel, kByToken), Elements::e4m3_rows_bf16},
           {compressed(kByTensor, kByTensor), Elements::e4m3_tensor_bf16},
           {compressed(kByTensor, kByToken), Elements::e4m3_rows_bf16},
           {R"({"quant_method": "modelopt", "quant_algo": "FP8"})", Elements::e4m3_tensor_bf16},
           {R"({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0})",
            Elements::e4m3_rows_bf16},
           {R"({"quant_method": "fp8", "activation_scheme": "static"})",
            Elements::e4m3_tensor_bf16}}) {
    const Workload work = quantised(described);
    EXPECT_EQ(work.problems.front().elements, elements) << described;
    EXPECT_TRUE(notes_say(work, "the products are taken as e4m3_")) << described;
  }
}

/// Elements of the products of a quantised Llama: o, down, qkv, gate_up.
std::vector<Elements> elements_of(const Workload& work) {
  std::vector<Elements> list;
  for (const LayerGemm& gemm : work.gemms) list.push_back(gemm.problem.elements);
  return list;
}

TEST(Quantization, modules_that_stay_in_16_bits_are_read) {
  constexpr Elements k8 = Elements::e4m3_tensor_bf16;
  constexpr Elements k16 = Elements::bf16;
  const auto fp8 = [](const std::string& list) {
    return quantised(R"({"quant_method": "fp8", "activation_scheme": "static", )" + list + "}");
  };
  struct Case {
    std::string list;
    std::vector<Elements> elements;
    std::string says;
  };
  for (const auto& [list, elements, says] : std::initializer_list<Case>{
           {R"("ignored_layers": ["lm_head", "re:.*router"])",
            {k8, k8, k8, k8},
            "e4m3_tensor_bf16"},
           {R"("ignored_layers": ["re:.*self_attn.*"])", {k16, k8, k16, k8}, "16 bits: qkv, o as"},
           {R"("modules_to_not_convert": ["mlp"])",
            {k8, k16, k8, k16},
            "16 bits: gate_up, down as"},
           {R"("ignore": ["o_proj", "gate_proj", "up_proj"])", {k16, k8, k8, k16}, "o, gate_up as"},
           {R"("ignore": ["q_proj", "k_proj", "v_proj"])", {k8, k8, k16, k8}, "16 bits: qkv as"},
           {R"("ignore": ["k_proj"])", {k8, k8, k8, k8}, "a part in 16 bits: qkv (k_proj only)"},
           {R"("ignore": ["model.layers.0.mlp.down_proj", "model.layers.31.mlp.down_proj"])",
            {k8, k8, k8, k8},
            "a part in 16 bits: down (2 of 32 layers)"},
           {R"("ignore": ["re:.*(q|k)_proj", "LlamaMLP"])",
            {k8, k8, k8, k8},
            "not known in its list: re:.*(q|k)_proj, LlamaMLP"}}) {
    const Workload work = fp8(list);
    EXPECT_EQ(elements_of(work), elements) << list;
    EXPECT_TRUE(notes_say(work, says)) << list << work.assumptions.back();
  }
  std::string targets = compressed(kByTensor, kByTensor);
  targets.replace(targets.find("Linear"), 6, "re:.*mlp.*");
  EXPECT_EQ(elements_of(quantised(targets)), (std::vector<Elements>{k16, k8, k16, k8}));
}

TEST(Quantization, targets_are_read_as_other_lists) {
  constexpr Elements k8 = Elements::e4m3_tensor_bf16;
  constexpr Elements k16 = Elements::bf16;
  const auto of_targets = [](const std::string& targets) {
    std::string text = compressed(kByTensor, kByTensor);
    text.replace(text.find("\"Linear\""), 8, targets);
    return quantised(text);
  };
  EXPECT_EQ(elements_of(of_targets(R"("re:.*self_attn.o_proj.*", "re:.*mlp.down_proj.*")")),
            (std::vector<Elements>{k8, k8, k16, k16}));
  // kv_b_proj has no product here, so all others stay.
  EXPECT_EQ(elements_of(of_targets(R"("re:.*self_attn.kv_b_proj", "re:.*mlp.*")")),
            (std::vector<Elements>{k16, k8, k16, k8}));
  const Workload some = of_targets(R"("model.layers.0.mlp", "re:.*self_attn.*")");
  EXPECT_TRUE(notes_say(some, "a part in 16 bits: gate_up (31 of 32 layers)"));
}

TEST(Quantization, a_list_may_be_one_text_and_nothing_else) {
  const auto fp8 = [](const std::string& list) {
    return R"({"quant_method": "fp8", "activation_scheme": "static", "ignore": )" + list + "}";
  };
  EXPECT_EQ(elements_of(quantised(fp8(R"("re:.*self_attn.*")"))).front(), Elements::bf16);
  for (const std::string wrong : {R"({"modules": ["self_attn"]})", "3", "true"}) {
    try {
      static_cast<void>(quantised(fp8(wrong)));
      ADD_FAILURE() << wrong;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find("quantization_config.ignore"), std::string::npos)
          << failure.what();
    }
  }
}

TEST(Quantization, fields_that_are_not_known_are_named) {
  std::string misspelt = compressed(kByTensor, kByTensor);
  misspelt.replace(misspelt.find("targets"), 7, "target");
  for (
      const auto& [described, says] : std::initializer_list<std::pair<std::string, std::string>>{
          {R"({"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_sizes": [128]})",
           "weight_block_sizes"},
          {R"({"quant_method": "fp8", "activation_scheme": "dynamic",
                "modules_not_to_convert": ["self_attn"]})",
           "modules_not_to_convert"},
          {R"({"quant_method": "modelopt", "quant_algo": "FP8", "exclude_module": ["mlp"]})",
           "exclude_module"},
          {R"({"quant_method": "fbgemm_fp8", "llm_int8_skip_modules": ["self_attn"]})",
           "llm_int8_skip_modules"},
          {misspelt, "config_groups.group_0.target"}}) {
    EXPECT_TRUE(notes_say(quantised(described), "that are not known were not read: " + says))
        << described;
  }
  // compressed-tensors writes empty objects for what a model does not use.
  std::string with_empty = compressed(kByTensor, kByTensor);
  with_empty.insert(1, R"("transform_config": {}, "format": "float-quantized",
                          "sparsity_config": {"format": "dense", "global_sparsity": 0.1}, )");
  EXPECT_FALSE(notes_say(quantised(with_empty), "were not read"));
  EXPECT_FALSE(notes_say(quantised(with_empty), "sparse"));
  with_empty.replace(with_empty.find("{}"), 2, R"({"config_groups": {"u": {}}})");
  EXPECT_TRUE(notes_say(quantised(with_empty), "were not read: transform_config"));
}

/// compressed-tensors with these groups: {"name": ..., ...}.
Workload of_groups(const std::string& groups) {
  return quantised(R"({"quant_method": "compressed-tensors", "config_groups": {)" + groups + "}}");
}

TEST(Quantization, groups_have_any_name_and_one_scheme) {
  const auto group = [](const char* weights, const char* targets) {
    return std::string(R"({"targets": [)") + targets + R"(], "weights": )" + weights +
           R"(, "input_activations": )" + kByTensor + "}";
  };
  EXPECT_EQ(of_groups(R"("FP8": )" + group(kByTensor, "\"Linear\"")).problems.front().elements,
            Elements::e4m3_tensor_bf16);
  for (const std::string second : {"group_1", "group_2", "mlp"}) {
    const Workload work = of_groups(R"("group_0": )" + group(kByTensor, "\"Linear\"") + ", \"" +
                                    second + "\": " + group(kByChannel, "\"re:.*mlp.*\""));
    EXPECT_EQ(work.problems.front().elements, Elements::bf16) << second;
    EXPECT_TRUE(notes_say(work, "so times with quantized weights differ")) << second;
  }
  // Two groups of one scheme: what neither targets stays in 16 bits.
  EXPECT_EQ(elements_of(of_groups(R"("a": )" + group(kByTensor, "\"re:.*o_proj\"") + R"(, "b": )" +
                                  group(kByTensor, "\"re:.*down_proj\""))),
            (std::vector<Elements>{Elements::e4m3_tensor_bf16, Elements::e4m3_tensor_bf16,
                                   Elements::bf16, Elements::bf16}));
}

/// A GLM-4.5-Air-like model of 46 layers, the first of which is dense, and one that predicts more
/// tokens.
Workload with_experts(const std::string& ignored) {
  return of_text(R"({"model_type": "glm4_moe", "hidden_size": 4096, "intermediate_size": 10240,
                     "moe_intermediate_size": 1408, "num_attention_heads": 96, "head_dim": 128,
                     "num_key_value_heads": 8, "num_hidden_layers": 46, "n_routed_experts": 128,
                     "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 1,
                     "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16",
                     "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic",
                       "ignored_layers": [)" +
                     ignored + "]}}",
                 4);
}

TEST(Quantization, numbers_of_layers_count_where_the_layers_have_the_module) {
  // Layer 0 is the only one with a dense MLP.
  EXPECT_TRUE(notes_say(with_experts(R"("model.layers.0.mlp")"), "16 bits: gate_up, down as"));
  const Workload fifth = with_experts(R"("model.layers.5.mlp")");
  EXPECT_TRUE(notes_say(fifth, "shared_gate_up (1 of 45 layers)"));
  EXPECT_TRUE(notes_say(fifth, "experts_down (1 of 45 layers)"));
  EXPECT_FALSE(notes_say(fifth, "but for those"));
  EXPECT_FALSE(notes_say(with_experts(R"("model.layers.46.mlp")"), "in 16 bits"));
  EXPECT_TRUE(notes_say(with_experts(R"("model.layers.47.mlp")"),
                        "not known in its list: model.layers.47.mlp"));
  EXPECT_TRUE(notes_say(with_experts(R"("model.layers.0.mlp.experts")"),
                        "not known in its list: model.layers.0.mlp.experts"));
}

// Numbers of layers by Python's re.match over model.layers.0 to 31.
TEST(Quantization, patterns_count_the_layers_that_they_match) {
  struct Case {
    std::string entry;  ///< in JSON
    std::string says;
  };
  for (const auto& [entry, says] : std::initializer_list<Case>{
           {R"(re:.*layers\\.\\d+\\.mlp\\..*)", "16 bits: gate_up, down as"},   // 32
           {R"(re:.*layers\\.7\\.mlp\\..*)", "down (1 of 32 layers)"},          // 1
           {R"(re:.*layers\\.\\d\\.mlp\\..*)", "not known in its list: re:"},   // 10
           {R"(re:.*layers\\.1\\d\\.mlp\\..*)", "not known in its list: re:"},  // 10
           {R"(re:.*layers.1.*mlp.*)", "not known in its list: re:"},           // 11
           {R"(re:.*\\.0\\.mlp.*)", "not known in its list: re:"},              // 1
           {R"(re:self_attn.*)", "not known in its list: re:self_attn"},        // 0
           {R"(re:.*mlp.gate)", "not known in its list: re:.*mlp.gate"}}) {     // 32, of gate_proj
    const Workload work =
        quantised(R"({"quant_method": "fp8", "activation_scheme": "static", "ignore": [")" + entry +
                  R"("]})");
    EXPECT_TRUE(notes_say(work, says)) << entry;
    EXPECT_EQ(notes_say(work, "but for those"), says.starts_with("16 bits")) << entry;
  }
}

TEST(Quantization, entries_for_all_layers_of_a_block_that_none_has_are_named) {
  const auto fp8 = [](const std::string& list) {
    return quantised(R"({"quant_method": "fp8", "activation_scheme": "static", "ignore": [)" +
                     list + "]}");
  };
  for (const std::string entry : {"re:.*shared_expert.*", "re:.*mlp.experts.*"}) {
    EXPECT_TRUE(notes_say(fp8("\"" + entry + "\""), "not known in its list: " + entry)) << entry;
  }
  EXPECT_FALSE(notes_say(fp8(R"("re:.*mlp.*")"), "not known"));
}

TEST(Quantization, a_shared_mlp_is_the_only_one_of_granite_without_experts) {
  const auto granite = [](const char* experts, const char* ignored) {
    return of_text(R"({"model_type": "granitemoehybrid", "hidden_size": 2048,
                       "intermediate_size": 8192, "shared_intermediate_size": 8192,
                       "num_attention_heads": 32, "num_key_value_heads": 8,
                       "num_hidden_layers": 2, "layer_types": ["attention", "attention"],
                       "num_experts_per_tok": 0, "torch_dtype": "bfloat16",
                       "num_local_experts": )" +
                       std::string(experts) + R"(, "quantization_config": {"quant_method": "fp8",
                         "activation_scheme": "static", "ignore": [")" +
                       ignored + R"("]}})",
                   4);
  };
  EXPECT_TRUE(notes_say(granite("0", "re:.*shared_mlp.*"), "16 bits: gate_up, down as"));
  EXPECT_TRUE(
      notes_say(granite("0", "model.layers.0.shared_mlp.output_linear"), "down (1 of 2 layers)"));
  EXPECT_TRUE(notes_say(granite("0", "re:.*block_sparse_moe.*"), "not known in its list"));
}

TEST(Quantization, sparse_weights_and_bits_of_chatglm_are_named) {
  std::string sparse = compressed(kByChannel, kByToken);
  sparse.insert(1, R"("sparsity_config": {"format": "sparse-24-bitmask",
                       "sparsity_structure": "2:4"}, )");
  EXPECT_TRUE(
      notes_say(quantised(sparse), "(sparsity_config: 2:4): the products are taken as dense"));
  const auto chatglm = [](const char* bits) {
    return of_text(R"({"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696,
                       "num_attention_heads": 32, "num_layers": 28, "multi_query_attention": true,
                       "multi_query_group_num": 2, "torch_dtype": "float16",
                       "quantization_bit": )" +
                       std::string(bits) + "}",
                   2);
  };
  EXPECT_TRUE(notes_say(chatglm("4"), "the weights are quantized (quantization_bit = 4)"));
  EXPECT_FALSE(notes_say(chatglm("0"), "quantized"));
  EXPECT_FALSE(notes_say(chatglm("null"), "quantized"));
}

TEST(Quantization, a_note_that_is_no_object_is_named) {
  for (const std::string described : {R"("fp8")", "true", "[8]"}) {
    const Workload work = quantised(described);
    EXPECT_EQ(work.problems.front().elements, Elements::bf16) << described;
    EXPECT_TRUE(notes_say(work, "quantized (quantization_config = ")) << described;
  }
}

TEST(Quantization, products_that_kernels_do_not_have_are_those_of_16_bits) {
  for (const std::string& described :
       {compressed(kByChannel, "null"),  // weights alone
        compressed(R"({"num_bits": 4, "type": "int", "strategy": "group"})", "null"),
        compressed(R"({"num_bits": 8, "type": "int", "strategy": "channel"})", kByToken),
        compressed(R"({"num_bits": 8, "type": "float", "strategy": "block"})", kByToken),
        std::string(R"({"quant_method": "compressed-tensors", "config_groups": 3})"),
        std::string(R"({"quant_method": "fp8", "activation_scheme": "dynamic",
                        "weight_block_size": [128, 128]})"),
        std::string(R"({"quant_method": "fp8", "activation_scheme": "none"})"),
        std::string(R"({"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e5m2"})"),
        std::string(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})"),
        std::string(R"({"quant_method": "gptq", "bits": 4})"), std::string("{}")}) {
    const Workload work = quantised(described);
    EXPECT_EQ(work.problems.front().elements, Elements::bf16) << described;
    EXPECT_TRUE(notes_say(work, "the products are taken as bf16, so times")) << described;
  }
}

}  // namespace
}  // namespace overlaptune
