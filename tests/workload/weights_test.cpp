// Weight counts beside published ones (tests/data/models/weights.json has the source of each, and
// says of which nobody saw it: "checked" is false).

#include "workload/weights.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kSources = OVERLAPTUNE_SOURCE_DIR;

Weights weights_of_file(const std::string& file) {
  return value_or_throw(weights_of(value_or_throw(read_model_config(kSources / file))));
}

TEST(Weights, published_counts) {
  const auto models =
      nlohmann::json::parse(std::ifstream(kSources / "tests/data/models/weights.json"));
  EXPECT_GE(models.size(), 20U);
  for (const auto& model : models) {
    const std::string name = model.at("name");
    const auto config = value_or_throw(parse_model_config(model.at("config").dump(), name));
    const Weights weights = value_or_throw(weights_of(config));
    const double billions = model.at("billions");
    EXPECT_NEAR(weights.all / 1e9, billions, 0.01 * billions) << name;
    EXPECT_FALSE(model.at("source").get<std::string>().empty()) << name;
    if (model.contains("active_billions")) {
      // Reports round to whole billions, and some leave out an embedding.
      const double active = model.at("active_billions");
      EXPECT_NEAR(weights.per_token / 1e9, active, 0.03 * active) << name;
    }
  }
}

/// Counts in billions, not checked against the models' cards, for configs that stand beside the
/// other tests.
TEST(Weights, counts_of_example_models) {
  for (const auto& [file, billions] : {std::pair{"examples/models/llama-3-8b.json", 8.03},
                                       {"examples/models/llama-3-70b.json", 70.6},
                                       {"examples/models/mistral-7b.json", 7.24},
                                       {"examples/models/mixtral-8x7b.json", 46.7},
                                       {"examples/models/qwen2.5-72b.json", 72.7},
                                       {"examples/models/qwen3-32b.json", 32.8},
                                       {"examples/models/gpt-neox-20b.json", 20.6},
                                       {"tests/data/models/gemma-2-9b-like.json", 9.24},
                                       {"tests/data/models/bamba-9b-like.json", 9.78},
                                       {"tests/data/models/gemma-4-31b-like.json", 30.7}}) {
    EXPECT_NEAR(weights_of_file(file).all / 1e9, billions, 0.005 * billions) << file;
  }
}

TEST(Weights, a_loop_meets_the_layers_again_but_not_the_embedding) {
  const Weights looped = weights_of_file("tests/data/models/looped-total_ut_steps.json");
  const double ends = 2 * 49152.0 * 2048;
  EXPECT_DOUBLE_EQ(looped.per_token - ends, 4 * (looped.all - ends));
}

TEST(Weights, narrow_embeddings_have_projections_to_the_layers_and_back) {
  const auto opt = [](const std::string& width) {  // OPT-350m
    const std::string text =
        R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_attention_heads": 16,
            "num_hidden_layers": 24, "vocab_size": 50272)" +
        width + "}";
    return value_or_throw(weights_of(value_or_throw(parse_model_config(text, "")))).all;
  };
  const double layers = 24.0 * 12 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(opt(""), layers + 50272.0 * 1024);
  EXPECT_DOUBLE_EQ(opt(R"(, "word_embed_proj_dim": 1024)"), layers + 50272.0 * 1024);
  EXPECT_DOUBLE_EQ(opt(R"(, "word_embed_proj_dim": 512)"),
                   layers + 50272.0 * 512 + 2 * 512.0 * 1024);
}

TEST(Weights, parts_that_are_not_counted_are_named) {
  const auto config = value_or_throw(parse_model_config(
      R"({"model_type": "gemma3n_text", "hidden_size": 2048, "intermediate_size": 8192,
          "num_attention_heads": 8, "num_hidden_layers": 30})",
      ""));
  const auto weights = weights_of(config);
  ASSERT_FALSE(weights);
  EXPECT_THAT(weights.error().message, HasSubstr("AltUp"));
}

}  // namespace
}  // namespace overlaptune
