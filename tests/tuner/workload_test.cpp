#include "tuner/workload.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kModels =
    std::filesystem::path(OVERLAPTUNE_SOURCE_DIR) / "examples/models";

Workload of_model(const char* file, WorkloadOptions options) {
  const auto config = read_model_config(kModels / file);
  if (!config) throw Failure(config.error());
  return value_or_throw(workload(*config, options));
}

/// n and k of one op at the first token count, in the order given.
std::vector<std::pair<std::int64_t, std::int64_t>> shapes(const Workload& work, Op op) {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (const Problem& problem : work.problems) {
    if (problem.op == op && problem.m == work.problems.front().m) {
      list.emplace_back(problem.n, problem.k);
    }
  }
  return list;
}

using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::string error_of(std::string_view json, WorkloadOptions options = {.tp = 8, .tokens = {4096}}) {
  const auto config = parse_model_config(json, "config.json");
  if (!config) return config.error().message;
  const auto result = workload(*config, options);
  return result ? "" : result.error().message;
}

/// A small llama with one field replaced or (with an empty value) taken away.
std::string llama(const std::string& field = "", const std::string& value = "") {
  const std::pair<std::string, std::string> fields[] = {
      {"model_type", "\"llama\""},    {"hidden_size", "8192"},      {"intermediate_size", "28672"},
      {"num_attention_heads", "64"},  {"num_key_value_heads", "8"}, {"num_hidden_layers", "80"},
      {"torch_dtype", "\"bfloat16\""}};
  std::string json;
  for (const auto& [name, usual] : fields) {
    const std::string& now = name == field ? value : usual;
    if (!now.empty()) json += (json.empty() ? "{\"" : ", \"") + name + "\": " + now;
  }
  return json + "}";
}

// The sizes below are the products of the published model dimensions, divided by hand.
TEST(Workload, plain_tp_has_gemms_without_a_collective) {
  const Workload plain = of_model("llama-3-70b.json", {.tp = 8, .tokens = {4096}});
  ASSERT_EQ(plain.plain_gemms.size(), 2U);
  EXPECT_EQ(plain.plain_gemms[0].product, Product::qkv);
  EXPECT_EQ(plain.plain_gemms[0].n, 1280);
  EXPECT_EQ(plain.plain_gemms[0].k, 8192);
  EXPECT_EQ(plain.plain_gemms[1].product, Product::gate_up);
  EXPECT_EQ(plain.plain_gemms[1].n, 7168);
  EXPECT_EQ(plain.plain_gemms[1].times_per_pass, 80);
  const Workload sequence = of_model(
      "llama-3-70b.json", {.tp = 8, .tokens = {4096}, .parallelism = {Parallelism::sequence}});
  EXPECT_TRUE(sequence.plain_gemms.empty());
}

TEST(Workload, llama_70b_over_8_ranks) {
  const WorkloadOptions options{.tp = 8,
                                .tokens = {1024, 4096, 16384},
                                .parallelism = {Parallelism::tensor, Parallelism::sequence}};
  const Workload work = of_model("llama-3-70b.json", options);
  EXPECT_EQ(work.problems.size(), 18U);
  EXPECT_EQ(shapes(work, Op::gemm_all_reduce), (Shapes{{8192, 1024}, {8192, 3584}}));
  EXPECT_EQ(shapes(work, Op::gemm_reduce_scatter), (Shapes{{8192, 1024}, {8192, 3584}}));
  EXPECT_EQ(shapes(work, Op::all_gather_gemm), (Shapes{{1280, 8192}, {7168, 8192}}));
  for (const Problem& problem : work.problems) {
    EXPECT_EQ(problem.ranks, 8);
    EXPECT_EQ(problem.elements, Elements::bf16);
  }
}

TEST(Workload, each_parallelism_alone) {
  const std::vector<std::int64_t> tokens{1024, 4096, 16384};
  EXPECT_EQ(of_model("llama-3-70b.json", {.tp = 8, .tokens = tokens}).problems.size(), 6U);
  EXPECT_EQ(of_model("llama-3-70b.json",
                     {.tp = 8, .tokens = tokens, .parallelism = {Parallelism::sequence}})
                .problems.size(),
            12U);
}

TEST(Workload, says_which_products_the_problems_of_llama_70b_are) {
  const Workload work = of_model(
      "llama-3-70b.json", {.tp = 8, .tokens = {4096}, .parallelism = {Parallelism::sequence}});
  const auto product = [](Product name, Op op, std::int64_t n, std::int64_t k) {
    return LayerGemm{.model = "llama-3-70b",
                     .product = name,
                     .parallelism = Parallelism::sequence,
                     .tokens = 4096,
                     .times_per_pass = 80,
                     .problem = {op, 4096, n, k, Elements::bf16, 8}};
  };
  EXPECT_THAT(work.gemms, testing::UnorderedElementsAre(
                              product(Product::qkv, Op::all_gather_gemm, 1280, 8192),
                              product(Product::o, Op::gemm_reduce_scatter, 8192, 1024),
                              product(Product::gate_up, Op::all_gather_gemm, 7168, 8192),
                              product(Product::down, Op::gemm_reduce_scatter, 8192, 3584)));
}

TEST(Workload, a_pass_multiplies_every_parameter_of_the_layers_once) {
  // Llama-3-70B as published: 70,553,706,496 parameters, of which two matrices of 128,256 x 8192
  // are embedding and lm_head, and 2 * 80 + 1 norms have 8192 each.
  constexpr std::int64_t kParameters = 70'553'706'496 - 2LL * 128'256 * 8192 - 161LL * 8192;
  const Workload work = of_model(
      "llama-3-70b.json", {.tp = 8, .tokens = {1024}, .parallelism = {Parallelism::sequence}});
  std::int64_t multiplied = 0;
  for (const LayerGemm& gemm : work.gemms) {
    const Problem& problem = gemm.problem;
    multiplied += gemm.times_per_pass * problem.n * problem.k * problem.ranks;
  }
  EXPECT_EQ(multiplied, kParameters);
}

TEST(Workload, keeps_what_each_problem_is_for_every_parallelism_and_number_of_tokens) {
  const Workload work =
      of_model("mistral-7b.json", {.tp = 4,
                                   .tokens = {1024, 2048},
                                   .parallelism = {Parallelism::tensor, Parallelism::sequence}});
  ASSERT_EQ(work.gemms.size(), 2U * (2 + 4));
  for (std::size_t i = 0; i < work.gemms.size(); ++i) {
    const LayerGemm& gemm = work.gemms[i];
    EXPECT_EQ(gemm.problem, work.problems.at(i));
    EXPECT_EQ(gemm.tokens, gemm.problem.m);
    EXPECT_EQ(gemm.times_per_pass, 32);
    EXPECT_EQ(gemm.parallelism == Parallelism::tensor, gemm.problem.op == Op::gemm_all_reduce);
  }
}

TEST(Workload, products_of_one_shape_are_one_problem_of_two_names) {
  // With an MLP as wide as the hidden states, `o` and `down` are both 8192 x 8192 / 8.
  const auto config = parse_model_config(llama("intermediate_size", "8192"), "config.json");
  ASSERT_TRUE(config) << config.error().message;
  const Workload work = value_or_throw(workload(*config, {.tp = 8, .tokens = {4096}}));
  ASSERT_EQ(work.problems.size(), 1U);
  ASSERT_EQ(work.gemms.size(), 2U);
  EXPECT_EQ(work.gemms[0].product, Product::o);
  EXPECT_EQ(work.gemms[1].product, Product::down);
  for (const LayerGemm& gemm : work.gemms) {
    EXPECT_EQ(gemm.problem, work.problems.front());
    EXPECT_EQ(gemm.times_per_pass, 80);
  }
}

TEST(Workload, other_published_models) {
  const WorkloadOptions four{.tp = 4, .tokens = {2048}, .parallelism = {Parallelism::sequence}};
  EXPECT_EQ(shapes(of_model("llama-3-8b.json", four), Op::gemm_reduce_scatter),
            (Shapes{{4096, 1024}, {4096, 3584}}));
  EXPECT_EQ(shapes(of_model("mistral-7b.json", four), Op::all_gather_gemm),
            (Shapes{{1536, 4096}, {7168, 4096}}));
  EXPECT_EQ(shapes(of_model("qwen2.5-72b.json", four), Op::gemm_reduce_scatter),
            (Shapes{{8192, 2048}, {8192, 7392}}));
  // head_dim 128 beside a hidden size of 5120 and 64 heads.
  EXPECT_EQ(shapes(of_model("qwen3-32b.json", four), Op::gemm_reduce_scatter),
            (Shapes{{5120, 2048}, {5120, 6400}}));
}

TEST(Workload, mlp_without_a_gate) {
  const Workload work = of_model(
      "gpt-neox-20b.json", {.tp = 8, .tokens = {2048}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(shapes(work, Op::all_gather_gemm), (Shapes{{2304, 6144}, {3072, 6144}}));
  EXPECT_EQ(work.problems.front().elements, Elements::fp16);
  EXPECT_EQ(work.gemms.back().product, Product::up);
  EXPECT_EQ(work.gemms.back().times_per_pass, 44);
}

bool notes_say(const Workload& work, std::string_view words) {
  return std::any_of(work.notes.begin(), work.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

/// n and k of one product, and in how many layers it is; zeros where there is none.
struct ProductShape {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t layers = 0;
  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

ProductShape shape_of(const Workload& work, Product product) {
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == product) return {gemm.problem.n, gemm.problem.k, gemm.times_per_pass};
  }
  return {};
}

std::int64_t rows_of(const Workload& work, Product product) {
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == product) return gemm.problem.m;
  }
  return 0;
}

Workload of_text(std::string_view json, int tp, Parallelism parallelism = Parallelism::sequence,
                 std::int64_t tokens = 4096) {
  return value_or_throw(workload(value_or_throw(parse_model_config(json, "config.json")),
                                 {.tp = tp, .tokens = {tokens}, .parallelism = {parallelism}}));
}

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

TEST(Workload, a_field_that_stands_twice_is_refused) {
  EXPECT_THAT(error_of(R"({"model_type": "llama", "hidden_size": 4096, "hidden_size": 8192})"),
              HasSubstr("hidden_size: is there twice"));
}

TEST(Workload, what_the_file_says_against_its_type_is_said) {
  const auto of = [](const std::string& architectures) {
    return of_text(R"({"model_type": "llama", "architectures": )" + architectures +
                       R"(, "hidden_size": 4096, "intermediate_size": 11008,
                          "num_attention_heads": 32, "num_hidden_layers": 32})",
                   4);
  };
  const auto of_class = [&](const std::string& name) { return of("[\"" + name + "\"]"); };
  EXPECT_TRUE(notes_say(of_class("JambaForCausalLM"), "architectures says JambaForCausalLM"));
  EXPECT_FALSE(notes_say(of_class("LlamaForCausalLM"), "architectures"));
  for (const char* nothing : {"[]", "[5]", "5", "null", R"("JambaForCausalLM")"}) {
    EXPECT_FALSE(notes_say(of(nothing), "architectures")) << nothing;
  }
  EXPECT_TRUE(notes_say(of_class("LlamaForCausalLM"), "torch_dtype is not in the file"));
}

/// Falcon-RW-1B has two all-reduces a layer, Falcon-7B one.
TEST(Workload, falcon_shares_an_all_reduce_unless_its_file_says_no) {
  const auto falcon = [](const char* fields) {
    return of_text(std::string(R"({"model_type": "falcon", "hidden_size": 2048, )") + fields +
                       R"("num_attention_heads": 32, "num_hidden_layers": 24})",
                   4);
  };
  const char* one = "one all-reduce";
  EXPECT_TRUE(notes_say(falcon(R"("parallel_attn": true, )"), one));
  EXPECT_FALSE(notes_say(falcon(R"("parallel_attn": false, "multi_query": false, )"), one));
}

TEST(Workload, more_rows_than_a_gemm_has_are_refused) {
  EXPECT_THAT(error_of(kQwenMoe, {.tp = 2, .tokens = {kLargestSize}}),
              HasSubstr("the experts of a rank would have 4294967294 rows"));
}

TEST(Workload, bert_has_no_gate) {
  const Workload work = of_text(
      R"({"model_type": "bert", "hidden_act": "gelu", "hidden_size": 1024,
          "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24})",
      4);
  EXPECT_EQ(shape_of(work, Product::up), (ProductShape{1024, 1024, 24}));
  EXPECT_FALSE(notes_say(work, "not known"));
}

TEST(Workload, falcon_7b_has_one_head_of_keys_and_values) {
  const Workload work = of_text(
      R"({"model_type": "falcon", "multi_query": true, "hidden_size": 4544,
          "num_attention_heads": 64, "head_dim": 64, "num_hidden_layers": 32})",
      2);
  EXPECT_EQ(shape_of(work, Product::qkv).n, (32 + 2) * 64);
}

TEST(ModelConfig, families_with_other_layers_are_named) {
  for (const std::string& family : std::vector<std::string>{"mamba", "dbrx", "t5"}) {
    EXPECT_THAT(error_of(llama("model_type", '"' + family + '"')),
                HasSubstr("model_type '" + family + "': not supported"));
  }
}

TEST(Workload, a_tp_that_does_not_divide_names_those_that_do) {
  EXPECT_THAT(error_of(llama(), {.tp = 3, .tokens = {4096}}),
              HasSubstr("--tp 2, 4, 8, 16, 32, 64 would divide all sizes of this model"));
}

TEST(Workload, fewer_kv_heads_than_ranks_are_replicated) {
  const Workload work = of_model(
      "llama-3-70b.json", {.tp = 16, .tokens = {4096}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(shapes(work, Op::all_gather_gemm).front().first, (64 / 16 + 2) * 128);
}

TEST(Workload, gpt2_style_names) {
  const auto config = parse_model_config(
      R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_inner": null, "n_layer": 48})",
      "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->intermediate, 6400);
  EXPECT_EQ(config->head_dim, 64);
  EXPECT_FALSE(config->gated);
  EXPECT_EQ(config->layers, 48);
}

TEST(Workload, nested_text_config) {
  const auto config = parse_model_config(
      R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1}, "text_config": )" + llama() +
          "}",
      "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->hidden, 8192);
}

TEST(Workload, indivisible_sizes_name_their_field) {
  EXPECT_THAT(error_of(llama("num_attention_heads", "60"), {.tp = 8, .tokens = {8}}),
              HasSubstr("num_key_value_heads = 8"));  // 8 does not divide 60
  EXPECT_THAT(error_of(llama(), {.tp = 3, .tokens = {4096}}),
              HasSubstr("num_attention_heads = 64"));
  EXPECT_THAT(error_of(llama("intermediate_size", "28676")),
              HasSubstr("intermediate_size = 28676"));
  EXPECT_THAT(error_of(llama("num_key_value_heads", "32"), {.tp = 64, .tokens = {64}}),
              testing::IsEmpty());
  const WorkloadOptions odd{.tp = 8, .tokens = {1001}, .parallelism = {Parallelism::sequence}};
  EXPECT_THAT(error_of(llama(), odd), HasSubstr("--tokens = 1001"));
}

TEST(Workload, tokens_and_tp_are_checked) {
  EXPECT_THAT(error_of(llama(), {.tp = 1, .tokens = {4096}}), HasSubstr("--tp 1"));
  EXPECT_THAT(error_of(llama(), {.tp = 8}), HasSubstr("--tokens"));
  EXPECT_THAT(error_of(llama(), {.tp = 8, .tokens = {0}}), HasSubstr("--tokens 0"));
  EXPECT_THAT(error_of(llama(), {.tp = 8, .tokens = {4096, 4096}}), HasSubstr("given twice"));
}

TEST(ModelConfig, wrong_fields_are_named) {
  const std::pair<std::string, std::string> cases[] = {
      {llama("hidden_size", ""), "hidden_size or n_embd"},
      {llama("hidden_size", "\"8192\""), "hidden_size = \"8192\""},
      {llama("hidden_size", "-8192"), "hidden_size = -8192"},
      {llama("hidden_size", "8192.5"), "hidden_size = 8192.5"},
      {llama("hidden_size", "4294967296"), "hidden_size = 4294967296"},
      {llama("num_attention_heads", "0"), "num_attention_heads = 0"},
      {llama("num_key_value_heads", "true"), "num_key_value_heads = true"},
      {llama("num_key_value_heads", "7"), "num_key_value_heads = 7"},
      {llama("intermediate_size", "[1]"), "intermediate_size = array"},
      {llama("num_hidden_layers", ""), "num_hidden_layers or n_layer"},
      {llama("num_hidden_layers", "0"), "num_hidden_layers = 0"},
      {R"({"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "num_experts": 4,
           "num_experts_per_tok": 5})",
       "num_experts_per_tok = 5: expected at most the number of experts, 4"},
      {R"({"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "num_experts": 4})",
       "moe_intermediate_size or intermediate_size is missing"},
      {llama("torch_dtype", "16"), "torch_dtype = 16"},
      {"{}", "hidden_size"},
      {"[]", "expected the object"},
      {"{\"hidden_size\": ", "not JSON"},
  };
  for (const auto& [json, words] : cases) {
    const std::string message = error_of(json);
    EXPECT_THAT(message, HasSubstr(words)) << json;
    EXPECT_EQ(message.find('\n'), std::string::npos) << json;
  }
}

TEST(ModelConfig, a_model_is_named_for_its_file_or_folder) {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "overlaptune-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern;
  const std::pair<const char*, const char*> cases[] = {
      {"qwen2.5-72b.json", "qwen2.5-72b"},
      {"qwen2.5", "qwen2.5"},
      {"two\nlines\x07.json", "two_lines_"},
      {"Meta-Llama-3-8B/config.json", "Meta-Llama-3-8B"},
      {"models--mistralai--Mistral-7B-v0.1/snapshots/26bca36bde/config.json", "Mistral-7B-v0.1"}};
  for (const auto& [path, name] : cases) {
    const fs::path file = folder / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << llama();
    const auto config = read_model_config(file);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->name, name);
  }
  // The name under which it was published goes before that of a folder, but a path is no name.
  for (const auto& [published, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"("meta-llama/Llama-3-8B")", "Llama-3-8B"}, {R"("/home/me/out")", "run7"}}) {
    fs::create_directories(folder / "run7");
    std::ofstream(folder / "run7" / "config.json")
        << "{\"_name_or_path\": " << published << ", " << llama().substr(1);
    EXPECT_EQ(value_or_throw(read_model_config(folder / "run7" / "config.json")).name, name);
  }
  fs::remove_all(folder);
}

TEST(ModelConfig, hostile_text_is_an_error) {
  EXPECT_THAT(error_of(std::string(900'000, '[')), HasSubstr("not JSON"));
  std::string deep(400'000, '[');
  deep += std::string(400'000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("expected the object"));
  EXPECT_THAT(error_of(llama("hidden_size", deep)), HasSubstr("hidden_size = array"));
  EXPECT_THAT(error_of(std::string("\xff\xfe\0{}", 5)), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace overlaptune
