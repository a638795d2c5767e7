#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"
#include "tests/workload/models.hpp"
#include "workload/workload.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

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

/// A token of a dense model has one MLP; several are experts that the file does not count.
TEST(ModelConfig, experts_that_are_not_counted_are_told) {
  const auto told = [](int per_token) {
    std::string text = llama();
    text.insert(1, "\"num_experts_per_tok\": " + std::to_string(per_token) + ", ");
    return notes_say(of_text(text, 4), "the number of experts is not in the file");
  };
  EXPECT_FALSE(told(1));
  EXPECT_TRUE(told(2));
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
  for (const auto& [text, words] : cases) {
    const std::string message = error_of(text);
    EXPECT_THAT(message, HasSubstr(words)) << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
  }
}

TEST(ModelConfig, a_model_is_named_for_its_file_or_folder) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
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
