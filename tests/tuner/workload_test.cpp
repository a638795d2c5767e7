#include "tuner/workload.hpp"

#include <algorithm>
#include <filesystem>

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
      {"model_type", "\"llama\""},   {"hidden_size", "8192"},      {"intermediate_size", "28672"},
      {"num_attention_heads", "64"}, {"num_key_value_heads", "8"}, {"torch_dtype", "\"bfloat16\""}};
  std::string json;
  for (const auto& [name, usual] : fields) {
    const std::string& now = name == field ? value : usual;
    if (!now.empty()) json += (json.empty() ? "{\"" : ", \"") + name + "\": " + now;
  }
  return json + "}";
}

// The sizes below are the products of the published model dimensions, divided by hand.
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
    EXPECT_EQ(problem.dtype, Dtype::bf16);
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
  EXPECT_EQ(work.problems.front().dtype, Dtype::fp16);
}

TEST(Workload, experts_are_skipped_and_said) {
  const Workload work = of_model(
      "mixtral-8x7b.json", {.tp = 8, .tokens = {2048}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(work.problems.size(), 2U);
  const auto says = [&](std::string_view word) {
    return std::any_of(work.notes.begin(), work.notes.end(), [&](const std::string& note) {
      return note.find(word) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("MoE experts (8)"));
  EXPECT_TRUE(says("lm_head"));
}

TEST(Workload, fewer_kv_heads_than_ranks_are_replicated) {
  const Workload work = of_model(
      "llama-3-70b.json", {.tp = 16, .tokens = {4096}, .parallelism = {Parallelism::sequence}});
  EXPECT_EQ(shapes(work, Op::all_gather_gemm).front().first, (64 / 16 + 2) * 128);
}

TEST(Workload, gpt2_style_names) {
  const auto config = parse_model_config(
      R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_inner": null})", "config.json");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->intermediate, 6400);
  EXPECT_EQ(config->head_dim, 64);
  EXPECT_FALSE(config->gated);
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
      {llama("intermediate_size", "[1]"), "intermediate_size = [1]"},
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

TEST(ModelConfig, hostile_text_is_an_error) {
  EXPECT_THAT(error_of(std::string(900'000, '[')), HasSubstr("not JSON"));
  std::string deep(400'000, '[');
  deep += std::string(400'000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("expected the object"));
  EXPECT_THAT(error_of(std::string("\xff\xfe\0{}", 5)), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace overlaptune
