// Messages of commands about a model: what they assume, what they leave out, what they refuse.

#include <filesystem>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using tool::Folder;

/// No head_dim: all commands take it from the sizes, and say so.
constexpr const char* kLlama = R"({"model_type": "llama", "hidden_size": 1024,
    "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 4,
    "num_hidden_layers": 3, "vocab_size": 1000, "torch_dtype": "bfloat16"})";

/// The sizes of `kLlama` under a name that nobody knows, with a field that nobody knows.
constexpr const char* kUnknown = R"({"model_type": "my_model", "hidden_size": 1024,
    "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 4,
    "num_hidden_layers": 3, "vocab_size": 1000, "torch_dtype": "bfloat16",
    "flux_layers": [1]})";

const std::string kHybrid =
    std::string(OVERLAPTUNE_SOURCE_DIR) + "/tests/data/models/bamba-9b-like.json";

const std::vector<std::string> kCommands{
    "query --db f.db --layer o --tokens 2k --tp 4 --model ",
    "query --explain --db f.db --layer o --tokens 2k --tp 4 --model ",
    "run --machine sim:rtx4090-pcie-x4 --db f.db --repetitions 2 --layer o --tokens 2k --tp 4 "
    "--model ",
    "advise --db f.db --tokens 2k --tp 4 --model ",
    "tune --machine sim:rtx4090-pcie-x4 --db f.db --top-k 1 --tokens 2k --tp 4 --model ",
    "step --db f.db --tokens 2k --tp 4 --model ",
    "sequences --db f.db --lengths l.txt --gpus 4 --gpus-per-node 4 --batch 4 --max-length 4k "
    "--model ",
    "whatif --cluster hgx-h100 --data-parallel 8 --model "};

class Models : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    folder->write("llama.json", kLlama);
    folder->write("unknown.json", kUnknown);
    folder->write("l.txt", "100\n200\n300\n4000\n");
    tool::json(*folder,
               "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 "
               "--problem gemm_all_reduce:2048,1024,256:bf16:4");
    tool::run(*folder, "probe --machine sim:rtx4090-pcie-x4 --db f.db --quick --ranks 2,4");
  }
  static void TearDownTestSuite() { delete folder; }
  static Folder* folder;
};

Folder* Models::folder = nullptr;

TEST_F(Models, each_command_says_what_it_assumes) {
  for (const std::string& command : kCommands) {
    const json document = tool::json(*folder, command + "llama.json");
    EXPECT_THAT(document.at("assumptions").dump(), HasSubstr("head_dim = 128")) << command;
    EXPECT_EQ(document.at("assumed_dense"), false);
    const tool::Outcome text = tool::run(*folder, command + "llama.json");
    EXPECT_THAT(text.out + text.err, HasSubstr("head_dim = 128")) << command;
  }
}

TEST_F(Models, attention_that_a_window_cuts_off_is_counted_whole_and_said) {
  std::string windowed = kLlama;
  windowed.insert(1, R"("sliding_window": 1024, )");
  folder->write("window.json", windowed);
  const auto assumed = [](const std::string& command) {
    return tool::json(*folder, command + "window.json").at("assumptions").dump();
  };
  const std::string step = "step --db f.db --tp 4 --tokens ";
  EXPECT_THAT(assumed(step + "2k --model "), HasSubstr("a window of 1024 tokens cuts it off"));
  EXPECT_THAT(assumed(step + "1k --model "), Not(HasSubstr("window")));
  EXPECT_THAT(assumed("sequences --db f.db --lengths l.txt --gpus 4 --gpus-per-node 4 --batch 4 "
                      "--max-length 4k --model "),
              HasSubstr("a window of 1024 tokens"));
}

TEST_F(Models, attention_of_an_encoder_is_counted_without_a_mask_and_said) {
  std::string encoder = kLlama;
  encoder.insert(1, R"("is_causal": false, )");
  folder->write("encoder.json", encoder);
  const std::string step = "step --db f.db --tp 4 --tokens 2k --model ";
  EXPECT_THAT(tool::json(*folder, step + "encoder.json").at("assumptions").dump(),
              HasSubstr("attention has no causal mask"));
  EXPECT_THAT(tool::json(*folder, step + "llama.json").at("assumptions").dump(),
              Not(HasSubstr("mask")));
}

TEST_F(Models, each_command_refuses_what_nobody_knows_or_marks_each_line) {
  for (const std::string& command : kCommands) {
    const tool::Outcome refused = tool::run(*folder, command + "unknown.json");
    EXPECT_EQ(refused.status, 2) << command;
    EXPECT_THAT(refused.err, HasSubstr("flux_layers")) << command;
    const tool::Outcome dense = tool::run(*folder, command + "unknown.json --assume-dense");
    ASSERT_EQ(dense.status, 0) << command << dense.err;
    std::istringstream lines(dense.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.empty() || line.ends_with(" (assumed dense)")) << command << ": " << line;
    }
  }
}

TEST_F(Models, layers_that_differ_are_counted_or_refused) {
  const json hybrid = tool::json(*folder, "advise --db f.db --tokens 2k --tp 4 --model " + kHybrid);
  for (const json& pass : hybrid.at("passes")) {
    EXPECT_TRUE(pass.at("layers").empty());
    double sum = 0;
    for (const json& each : pass.at("operations")) {
      const bool attention = each.at("product") == "o" || each.at("product") == "qkv";
      EXPECT_EQ(each.at("times_per_pass"), attention ? 3 : 32);
      sum += each.at("times_per_pass").get<double>() * each.at("overlapped_us").get<double>();
    }
    EXPECT_NEAR(pass.at("overlapped_us"), sum, 1e-6 * sum);
  }
  const tool::Outcome step =
      tool::run(*folder, "step --db f.db --tokens 2k --tp 4 --model " + kHybrid);
  EXPECT_EQ(step.status, 2);
  EXPECT_THAT(step.err, HasSubstr("29 of 32 layers have Mamba"));
}

TEST_F(Models, a_product_of_two_sizes_is_that_of_most_layers) {
  const std::string gemma =
      std::string(OVERLAPTUNE_SOURCE_DIR) + "/tests/data/models/gemma-4-31b-like.json";
  const json answer =
      tool::json(*folder, "query --db f.db --layer o --tokens 2k --tp 4 --model " + gemma);
  EXPECT_EQ(answer.at("problem").at("k"), 2048);
  EXPECT_THAT(answer.at("assumptions").dump(),
              HasSubstr("a pass runs 50 times; 10 times it is gemm_all_reduce:2048,5376,4096"));
}

TEST_F(Models, a_layout_that_cannot_serve_some_tokens_is_left_out) {
  const json all = tool::json(*folder, "advise --db f.db --tokens 1,32 --tp 4 --model llama.json");
  std::set<std::pair<int, std::string>> passes;
  for (const json& pass : all.at("passes")) {
    passes.emplace(pass.at("tokens").get<int>(), pass.at("parallelism").get<std::string>());
  }
  EXPECT_EQ(passes, (std::set<std::pair<int, std::string>>{{1, "tp"}, {32, "tp"}, {32, "sp"}}));
  ASSERT_EQ(all.at("left_out").size(), 1U);
  EXPECT_THAT(all.at("left_out")[0].at("reason").get<std::string>(),
              HasSubstr("expected a multiple of --tp 4"));
  const tool::Outcome none = tool::run(
      *folder, "advise --db f.db --tokens 1 --tp 4 --sequence-parallel yes --model llama.json");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--tokens = 1: expected a multiple of --tp 4"));
}

}  // namespace
}  // namespace overlaptune
