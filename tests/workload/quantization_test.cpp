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
        std::string(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})"),
        std::string(R"({"quant_method": "gptq", "bits": 4})"), std::string("{}")}) {
    const Workload work = quantised(described);
    EXPECT_EQ(work.problems.front().elements, Elements::bf16) << described;
    EXPECT_TRUE(notes_say(work, "the products are taken as bf16, so times")) << described;
  }
}

}  // namespace
}  // namespace overlaptune
