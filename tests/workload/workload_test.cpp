#include "workload/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/models.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace overlaptune
