#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/models.hpp"
#include "workload/workload.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

// The published config of DeepSeek-V3: 61 layers, the first 3 dense, one shared expert.
TEST(Workload, deepseek_v3_has_dense_layers_first_and_a_shared_expert) {
  const Workload work = of_text(
      R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
          "moe_intermediate_size": 2048, "n_shared_experts": 1, "n_routed_experts": 256,
          "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
          "num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61,
          "kv_lora_rank": 512, "v_head_dim": 128, "torch_dtype": "bfloat16",
          "quantization_config": {"quant_method": "fp8"}})",
      8);
  EXPECT_EQ(shape_of(work, Product::o), (ProductShape{7168, 128 * 128 / 8, 61}));
  EXPECT_EQ(shape_of(work, Product::down), (ProductShape{7168, 18432 / 8, 3}));
  EXPECT_EQ(shape_of(work, Product::gate_up), (ProductShape{2 * 18432 / 8, 7168, 3}));
  EXPECT_EQ(shape_of(work, Product::shared_down), (ProductShape{7168, 2048 / 8, 58}));
  EXPECT_EQ(shape_of(work, Product::shared_gate_up), (ProductShape{2 * 2048 / 8, 7168, 58}));
  EXPECT_EQ(shape_of(work, Product::qkv), ProductShape{});
  EXPECT_TRUE(notes_say(work, "quantized (fp8): the products are taken as bf16"));
  // 8 rows of each of 4096 tokens on 8 ranks; whole experts of 2048.
  EXPECT_EQ(shape_of(work, Product::combine), (ProductShape{7168, 2048, 58}));
  EXPECT_EQ(rows_of(work, Product::combine), 4096 * 8 / 8);
  EXPECT_TRUE(notes_say(work, "the experts (256 in each of 58 layers) are shared out"));
}

// Hunyuan's experts have a shared MLP beside them where the flag is true.
TEST(Workload, hunyuan_shares_an_mlp_by_a_flag) {
  const auto shared = [](const std::string& flag) {
    const Workload work = of_text(
        R"({"model_type": "hunyuan", "hidden_size": 4096, "intermediate_size": 3072,
            "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
            "num_experts": 64, "moe_topk": 8, "num_shared_expert": 1)" +
            flag + "}",
        4);
    EXPECT_FALSE(notes_say(work, "were not read"));
    return shape_of(work, Product::shared_down);
  };
  EXPECT_EQ(shared(R"(, "use_mixed_mlp_moe": true)"), (ProductShape{4096, 3072 / 4, 32}));
  EXPECT_EQ(shared(R"(, "use_mixed_mlp_moe": false)"), ProductShape{});
  EXPECT_EQ(shared(""), ProductShape{});
}

// Nemotron 3 Super: experts read and write rows of 1024, the shared one those of 4096.
TEST(Workload, experts_may_have_narrower_rows) {
  const Workload work = of_text(
      R"({"model_type": "nemotron_h", "hidden_size": 4096, "intermediate_size": 2688,
          "num_hidden_layers": 4, "hybrid_override_pattern": "ME*E", "num_attention_heads": 32,
          "num_key_value_heads": 2, "moe_intermediate_size": 2688, "n_routed_experts": 512,
          "moe_shared_expert_intermediate_size": 5376, "moe_latent_size": 1024,
          "num_experts_per_tok": 22})",
      8);
  EXPECT_EQ(shape_of(work, Product::combine), (ProductShape{1024, 2688, 2}));
  EXPECT_EQ(shape_of(work, Product::shared_down), (ProductShape{4096, 5376 / 8, 2}));
  ASSERT_EQ(work.plain_gemms.size(), 1U);
  EXPECT_EQ(work.plain_gemms.front().n, 2688);
  EXPECT_EQ(work.plain_gemms.front().k, 1024);
  EXPECT_EQ(work.plain_collectives.front().columns, 1024);
  EXPECT_TRUE(notes_say(work, "rows of 1024 (moe_latent_size)"));
}

// ChatGLM3-6B as published: 32 heads of 128, two groups of keys and values.
TEST(Workload, glm_has_groups_of_queries) {
  const std::string fields =
      R"("model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696,
         "kv_channels": 128, "num_attention_heads": 32, "num_layers": 28,
         "multi_query_group_num": 2, "multi_query_attention": )";
  const Workload grouped = of_text("{" + fields + "true}", 2);
  EXPECT_EQ(shape_of(grouped, Product::qkv), (ProductShape{(16 + 2 * 1) * 128, 4096, 28}));
  EXPECT_EQ(shape_of(grouped, Product::gate_up), (ProductShape{13696, 4096, 28}));
  EXPECT_EQ(shape_of(of_text("{" + fields + "false}", 2), Product::qkv).n, 3 * 16 * 128);
}

// gpt-oss-20b as published: heads of 64 beside a hidden size of 2880.
TEST(Workload, gpt_oss_has_experts_only) {
  const Workload work = of_text(
      R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
          "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 24,
          "num_local_experts": 32, "experts_per_token": 4,
          "quantization_config": {"quant_method": "mxfp4"}})",
      8);
  EXPECT_EQ(shape_of(work, Product::qkv), (ProductShape{(8 + 2) * 64, 2880, 24}));
  EXPECT_EQ(shape_of(work, Product::down), ProductShape{});
  EXPECT_FALSE(notes_say(work, "not known"));
  EXPECT_TRUE(notes_say(work, "quantized (mxfp4)"));
}

/// m, n and k of a product without a collective; zeros where there is none.
std::array<std::int64_t, 3> plain_sizes(const Workload& work, Product product) {
  for (const PlainGemm& gemm : work.plain_gemms) {
    if (gemm.product == product) return {gemm.m, gemm.n, gemm.k};
  }
  return {};
}

using Sizes = std::array<std::int64_t, 3>;

// Mixtral-8x7B as published: 8 experts of 14336, 2 of them for each token, in each of 32 layers.
TEST(Workload, experts_are_shared_out_under_sequence_parallelism) {
  const Workload work = of_model(
      "mixtral-8x7b.json", {.tp = 4, .tokens = {2048}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(work.problems.size(), 3U);  // o, qkv and combine
  EXPECT_EQ(work.problems.back(),
            (Problem{Op::gemm_all_to_all, 2048 * 2 / 4, 4096, 14336, Elements::bf16, 4}));
  const LayerGemm& combine = work.gemms.back();
  EXPECT_EQ(combine.product, Product::combine);
  EXPECT_EQ(combine.tokens, 2048);
  EXPECT_EQ(combine.times_per_pass, 32);
  EXPECT_EQ(plain_sizes(work, Product::experts_gate_up), (Sizes{1024, 2 * 14336, 4096}));
  EXPECT_EQ(plain_sizes(work, Product::experts_down), Sizes{});
  ASSERT_EQ(work.plain_collectives.size(), 1U);
  const PlainCollective& dispatch = work.plain_collectives.front();
  EXPECT_EQ(dispatch.product, Product::dispatch);
  EXPECT_EQ(dispatch.collective, Collective::all_to_all);
  EXPECT_EQ(dispatch.times_per_pass, 32);
  // A rank has 512 tokens, and sends two rows of 4096 bf16 for each.
  EXPECT_EQ(bytes_of(dispatch).count, 512 * 2 * 4096 * 2);
  EXPECT_TRUE(notes_say(work, "one dense GEMM"));
  EXPECT_TRUE(notes_say(work, "lm_head"));
}

TEST(Workload, experts_of_plain_tp_end_in_one_all_reduce) {
  const Workload mixtral = of_model("mixtral-8x7b.json", {.tp = 4, .tokens = {2048}});
  EXPECT_EQ(mixtral.problems.size(), 1U);  // o
  EXPECT_EQ(plain_sizes(mixtral, Product::experts_gate_up), (Sizes{1024, 2 * 14336, 4096}));
  EXPECT_EQ(plain_sizes(mixtral, Product::experts_down), (Sizes{1024, 4096, 14336}));
  ASSERT_EQ(mixtral.plain_collectives.size(), 1U);
  EXPECT_EQ(mixtral.plain_collectives.front().product, Product::combine);
  EXPECT_EQ(mixtral.plain_collectives.front().collective, Collective::all_reduce);
  EXPECT_EQ(bytes_of(mixtral.plain_collectives.front()).count, 2048 * 4096 * 2);
}

// Mixtral-8x7B has 46,702,792,704 parameters as published. A token does not pass 6 of the 8 experts
// of a layer (three matrices of 4096 x 14336 each), the router (8 x 4096), the two matrices of
// 32,000 x 4096 of embedding and lm_head, and 65 norms of 4096.
TEST(Workload, a_token_multiplies_the_parameters_of_its_experts) {
  constexpr std::int64_t kParameters =
      46'702'792'704 - 32 * (6 * 3LL * 4096 * 14336 + 8 * 4096) - 2 * 32'000LL * 4096 - 65 * 4096LL;
  for (const Parallelism parallelism : {Parallelism::tensor, Parallelism::sequence}) {
    const Workload work =
        of_model("mixtral-8x7b.json", {.tp = 8, .tokens = {4096}, .parallelism = {parallelism}});
    std::int64_t multiplied = 0;
    for (const LayerGemm& gemm : work.gemms) {
      const Problem& problem = gemm.problem;
      multiplied += gemm.times_per_pass * problem.m * problem.n * problem.k * 8 / 4096;
    }
    for (const PlainGemm& gemm : work.plain_gemms) {
      multiplied += gemm.times_per_pass * gemm.m * gemm.n * gemm.k * 8 / 4096;
    }
    EXPECT_EQ(multiplied, kParameters);
  }
}

// Qwen1.5-MoE-A2.7B as published: 60 experts of 1408 and a shared one of 5632.
constexpr const char* kQwenMoe =
    R"({"model_type": "qwen2_moe", "hidden_act": "silu", "hidden_size": 2048,
        "intermediate_size": 5632, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "num_attention_heads": 16,
        "num_key_value_heads": 16, "num_hidden_layers": 24, "num_experts": 60,
        "num_experts_per_tok": 4, "decoder_sparse_step": 1, "torch_dtype": "bfloat16"})";

TEST(Workload, qwen_moe_has_a_shared_expert) {
  const Workload work = of_text(kQwenMoe, 4);
  EXPECT_EQ(shape_of(work, Product::shared_down), (ProductShape{2048, 5632 / 4, 24}));
  EXPECT_EQ(shape_of(work, Product::combine), (ProductShape{2048, 1408, 24}));
  EXPECT_EQ(rows_of(work, Product::combine), 4096 * 4 / 4);
  EXPECT_EQ(plain_sizes(work, Product::experts_gate_up), (Sizes{4096, 2 * 1408, 2048}));
  // The all-reduce of the shared expert adds up the rows of all experts.
  const Workload plain = of_text(kQwenMoe, 4, Parallelism::tensor);
  EXPECT_TRUE(plain.plain_collectives.empty());
  EXPECT_TRUE(notes_say(plain, "the all-reduce of shared_down also adds up"));
}

TEST(Workload, layers_in_turn_have_experts) {
  const auto layers_with_experts = [](std::string json, const std::string& fields) {
    return shape_of(of_text(json.insert(1, fields + ", "), 4), Product::combine).layers;
  };
  const std::string qwen =
      std::string(kQwenMoe).erase(std::string(kQwenMoe).find(R"("decoder_sparse_step": 1, )"), 26);
  EXPECT_EQ(layers_with_experts(qwen, R"("mlp_only_layers": [])"), 24);
  EXPECT_EQ(layers_with_experts(qwen, R"("mlp_only_layers": [0, 5, 5, 99])"), 22);
  // Layers 1, 3, ... 23; layer 4 is dense anyway.
  EXPECT_EQ(layers_with_experts(qwen, R"("decoder_sparse_step": 2, "mlp_only_layers": [3, 4])"),
            11);
  // Layers 4, 6, ... 22.
  EXPECT_EQ(layers_with_experts(qwen, R"("first_k_dense_replace": 3, "moe_layer_freq": 2)"), 10);
}

// Llama-4-Maverick as published: experts in every second layer of 48, one for each token, beside
// one that every token passes.
TEST(Workload, llama_4_has_a_shared_expert_in_every_second_layer) {
  const Workload work = of_text(
      R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
          "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
          "head_dim": 128, "num_attention_heads": 40, "num_key_value_heads": 8,
          "num_hidden_layers": 48, "num_local_experts": 128, "num_experts_per_tok": 1,
          "interleave_moe_layer_step": 2, "torch_dtype": "bfloat16"}})",
      8);
  EXPECT_EQ(shape_of(work, Product::down), (ProductShape{5120, 16384 / 8, 24}));
  EXPECT_EQ(shape_of(work, Product::shared_down), (ProductShape{5120, 8192 / 8, 24}));
  EXPECT_EQ(shape_of(work, Product::combine), (ProductShape{5120, 8192, 24}));
  EXPECT_EQ(rows_of(work, Product::combine), 4096 / 8);
}

// ERNIE-4.5-21B-A3B as published: 64 experts, 6 of them for each token, from the second layer on.
TEST(Workload, ernie_has_names_of_its_own) {
  const Workload work = of_text(
      R"({"model_type": "ernie4_5_moe", "hidden_act": "silu", "hidden_size": 2560,
          "intermediate_size": 12288, "moe_intermediate_size": 1536, "moe_num_experts": 64,
          "moe_k": 6, "moe_num_shared_experts": 2, "moe_layer_start_index": 1,
          "moe_layer_interval": 1, "num_attention_heads": 20, "num_key_value_heads": 4,
          "num_hidden_layers": 28, "torch_dtype": "bfloat16"})",
      4);
  EXPECT_EQ(shape_of(work, Product::down), (ProductShape{2560, 12288 / 4, 1}));
  EXPECT_EQ(shape_of(work, Product::shared_down), (ProductShape{2560, 2 * 1536 / 4, 27}));
  EXPECT_EQ(shape_of(work, Product::combine), (ProductShape{2560, 1536, 27}));
  EXPECT_EQ(rows_of(work, Product::combine), 4096 * 6 / 4);
  EXPECT_FALSE(notes_say(work, "not known"));
}

TEST(Workload, rows_of_few_tokens_are_rounded_up) {
  // 16 tokens pass 64 experts: 16 on each of 4 ranks; 12 tokens 48: 12 on each. 4 tokens: 4 on
  // each.
  EXPECT_EQ(rows_of(of_text(kQwenMoe, 4, Parallelism::sequence, 12), Product::combine), 12);
  // 4 tokens pass 8 experts of Mixtral: 2 on each of 4 ranks, which cannot be sent to 4 ranks
  // alike.
  const Workload few = of_model("mixtral-8x7b.json",
                                {.tp = 4, .tokens = {4}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(rows_of(few, Product::combine), 4);
}

TEST(Workload, experts_that_cannot_be_shared_out_are_left_out_and_said) {
  const Workload sixteen = of_text(kQwenMoe, 16);
  EXPECT_EQ(rows_of(sixteen, Product::combine), 0);
  EXPECT_TRUE(sixteen.plain_collectives.empty());
  EXPECT_EQ(plain_sizes(sixteen, Product::experts_gate_up), Sizes{});
  EXPECT_TRUE(
      notes_say(sixteen, "the experts (60 in each of 24 layers) are left out: --tp 16 does not"));
  std::string unsaid = kQwenMoe;
  unsaid.erase(unsaid.find(R"("num_experts_per_tok": 4, )"), 26);
  EXPECT_TRUE(notes_say(of_text(unsaid, 4), "num_experts_per_tok = 4"));
  unsaid.replace(unsaid.find("qwen2_moe"), 9, "my_model");
  EXPECT_TRUE(notes_say(of_text(unsaid, 4), "does not say how many of them a token passes"));
}

/// The class of Qwen3-MoE has experts of 768 (configuration_qwen3_moe.py).
TEST(Workload, the_width_of_experts_is_never_that_of_dense_layers_of_the_family) {
  const Workload work = of_text(
      R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
          "num_attention_heads": 32, "num_hidden_layers": 48, "torch_dtype": "bfloat16"})",
      8);
  EXPECT_TRUE(notes_say(work, "moe_intermediate_size = 768"));
  EXPECT_EQ(plain_sizes(work, Product::experts_gate_up), (Sizes{4096, 2 * 768, 2048}));
}

TEST(Workload, a_family_of_experts_without_their_number_is_refused) {
  std::string text =
      R"({"model_type": "glm4_moe", "hidden_size": 5120, "intermediate_size": 12288,
          "moe_intermediate_size": 1536, "num_experts_per_tok": 8, "num_attention_heads": 96,
          "head_dim": 128, "num_hidden_layers": 92})";
  EXPECT_THAT(error_of(text), HasSubstr("n_routed_experts is missing"));
  text.replace(text.find("glm4_moe"), 8, "llama");
  EXPECT_TRUE(notes_say(of_text(text, 8), "the number of experts is not in the file"));
}

TEST(Workload, more_rows_than_a_gemm_has_are_refused) {
  EXPECT_THAT(error_of(kQwenMoe, {.tp = 2, .tokens = {kLargestSize}}),
              HasSubstr("the experts of a rank would have 4294967294 rows"));
}

/// A model with 16 experts, two of which a token passes, and the fields of `more`.
std::string with_experts(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type + R"(", "hidden_size": 2048, "intermediate_size": 8192,
             "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
             "num_hidden_layers": 8, "num_experts_per_tok": 2, )" +
         more + "}";
}

// Widths of the classes: Dots1Config 1408, Ernie4_5_MoeConfig 1536, Lfm2MoeConfig 1792,
// GlmMoeDsaConfig 2048.
TEST(Experts, a_width_that_is_missing_is_that_of_the_class) {
  for (const auto& [text, width] : std::initializer_list<std::pair<std::string, int>>{
           {with_experts("dots1", R"("n_routed_experts": 16)"), 1408},
           {with_experts("ernie4_5_moe", R"("moe_num_experts": 16)"), 1536},
           {with_experts("lfm2_moe", R"("num_experts": 16, "layer_types": ["full_attention", "conv",
                "full_attention", "conv", "full_attention", "conv", "full_attention", "conv"])"),
            1792},
           {with_experts("glm_moe_dsa", R"("n_routed_experts": 16, "kv_lora_rank": 512)"), 2048}}) {
    const Workload work = of_text(text, 2);
    EXPECT_EQ(shape_of(work, Product::combine).k, width) << text;
    EXPECT_TRUE(notes_say(work, "moe_intermediate_size = " + std::to_string(width))) << text;
  }
}

TEST(Experts, a_width_that_nothing_says_is_refused_by_name) {
  for (const std::string& text :
       {with_experts("glm4_moe", R"("n_routed_experts": 16)"),
        with_experts("deepseek_v3", R"("n_routed_experts": 16, "kv_lora_rank": 512)"),
        with_experts("bailing_moe_v2", R"("num_experts": 16)"),
        with_experts("gemma4_text", R"("num_experts": 16, "enable_moe_block": true)"),
        with_experts("qwen3_next", R"("num_experts": 16, "moe_intermediate_size": null)"),
        with_experts("dots1", R"("n_routed_experts": 16, "moe_intermediate_size": null)"),
        with_experts("my_moe", R"("num_experts": 16, "hidden_act": "silu")")}) {
    EXPECT_THAT(error_of(text), HasSubstr("moe_intermediate_size is missing")) << text;
  }
  const std::string unknown = with_experts("my_moe", R"("num_experts": 16, "hidden_act": "silu")");
  EXPECT_THAT(error_of(unknown), HasSubstr("--assume-dense"));
  const auto dense = value_or_throw(parse_model_config(unknown, "", {.assume_dense = true}));
  EXPECT_EQ(dense.expert_intermediate, 8192);
  // MixtralConfig and OlmoeConfig have one width for both.
  for (const std::string type : {"mixtral", "olmoe"}) {
    EXPECT_EQ(value_or_throw(parse_model_config(with_experts(type, R"("num_experts": 16)"), ""))
                  .expert_intermediate,
              8192);
  }
}

TEST(Experts, a_width_of_known_types_may_be_assumed_on_request) {
  const std::string text =
      with_experts("qwen3_moe", R"("num_experts": 16, "moe_intermediate_size": null)");
  EXPECT_THAT(error_of(text),
              testing::AllOf(HasSubstr("was not taken"), HasSubstr("--assume-dense")));
  const auto dense = value_or_throw(parse_model_config(text, "", {.assume_dense = true}));
  EXPECT_EQ(dense.expert_intermediate, 8192);
  EXPECT_TRUE(dense.assumed_dense);
  // A file that has the width is no guess.
  const std::string known =
      with_experts("qwen3_moe", R"("num_experts": 16, "moe_intermediate_size": 1024)");
  const auto plain = value_or_throw(parse_model_config(known, "", {.assume_dense = true}));
  EXPECT_EQ(plain.expert_intermediate, 1024);
  EXPECT_FALSE(plain.assumed_dense);
  // MiniCPM-MoE-8x2B has one width for both.
  EXPECT_EQ(value_or_throw(parse_model_config(with_experts("minicpm", R"("num_experts": 8)"), ""))
                .expert_intermediate,
            8192);
}

// NemotronHConfig: 7688 for both widths, which no usual --tp divides well; the error says so.
TEST(Experts, errors_about_sizes_name_the_defaults) {
  const std::string text = with_experts(
      "nemotron_h", R"("n_routed_experts": 16, "hybrid_override_pattern": "ME*EME*E")");
  EXPECT_THAT(error_of(text, {.tp = 2, .tokens = {4096}}),
              HasSubstr("moe_shared_expert_intermediate_size = 7688"));
}

// vLLM's bailing_moe.py: moe_shared_expert_intermediate_size, times num_shared_experts.
TEST(Experts, shared_experts_of_ling_have_their_width_each) {
  const Workload work =
      of_text(with_experts("bailing_moe_v2", R"("num_experts": 16, "moe_intermediate_size": 512,
          "moe_shared_expert_intermediate_size": 1024, "num_shared_experts": 2)"),
              2);
  EXPECT_EQ(shape_of(work, Product::shared_down).k, 2 * 1024 / 2);
}

TEST(Experts, wrong_lists_of_layers_with_experts_are_refused) {
  const auto glm = [](const std::string& more) {
    return error_of(
        with_experts("glm_moe_dsa", R"("n_routed_experts": 16, "kv_lora_rank": 512, )" + more));
  };
  EXPECT_THAT(glm(R"("mlp_layer_types": ["dense", "sparse", "sparse", "spares", "sparse", "sparse",
                     "sparse", "sparse"])"),
              HasSubstr("mlp_layer_types has 'spares': expected dense or sparse"));
  EXPECT_THAT(glm(R"("moe_layer_freq": 0)"), HasSubstr("moe_layer_freq = 0"));
  EXPECT_THAT(glm(R"("moe_layer_freq": [0, 1, 2, 1, 1, 1, 1, 1])"),
              HasSubstr("moe_layer_freq has 2"));
}

// Ernie4_5_MoeConfig: moe_layer_end_index = -1 is the last layer.
TEST(Experts, an_end_of_minus_one_is_the_last_layer) {
  const auto layers = [](const char* end) {
    return value_or_throw(parse_model_config(with_experts("ernie4_5_moe", R"("moe_num_experts": 16,
                   "moe_layer_start_index": 1, "moe_layer_end_index": )" + std::string(end)),
                                             ""))
        .expert_layers;
  };
  EXPECT_EQ(layers("-1"), 7);
  EXPECT_EQ(layers("5"), 5);
}

TEST(Experts, a_dense_nemotron_says_nothing_of_experts) {
  const Workload work = of_text(
      R"({"model_type": "nemotron_h", "hidden_size": 4096, "intermediate_size": 21504,
          "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
          "num_hidden_layers": 4, "hybrid_override_pattern": "M-*-"})",
      4);
  EXPECT_FALSE(notes_say(work, "num_experts_per_tok"));
}

}  // namespace
}  // namespace overlaptune
