// Answers of `advise` for a whole model, beside the answers of `query` for its problems.

#include <cstdlib>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;

constexpr const char* kLlama = R"({"model_type": "llama", "hidden_size": 1024,
    "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 4,
    "num_hidden_layers": 3, "torch_dtype": "bfloat16"})";

// The first of three layers is dense, the others have experts and one that every token passes.
constexpr const char* kExperts = R"({"model_type": "deepseek", "hidden_size": 1024,
    "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 8,
    "num_hidden_layers": 3, "n_routed_experts": 16, "n_shared_experts": 2,
    "moe_intermediate_size": 512, "num_experts_per_tok": 4, "first_k_dense_replace": 1,
    "torch_dtype": "bfloat16"})";

/// A database with quick probes of 4 ranks, and a winner for `o` of plain TP at 2048 tokens.
class Advise : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    folder->write("small.json", kLlama);
    folder->write("experts.json", kExperts);
    tool::json(*folder,
               "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 "
               "--problem gemm_all_reduce:2048,1024,256:bf16:4");
  }
  static void TearDownTestSuite() { delete folder; }
  static json advice(const std::string& flags) {
    return tool::json(*folder, "advise --db f.db " + flags);
  }
  static Folder* folder;
};

Folder* Advise::folder = nullptr;

std::map<std::string, json> by_product(const json& pass) {
  std::map<std::string, json> map;
  for (const json& each : pass.at("operations")) map.emplace(each.at("product"), each);
  return map;
}

std::string question(const json& problem) {
  std::string flags = "query --db f.db --dtype " + problem.at("dtype").get<std::string>();
  flags += " --op " + problem.at("op").get<std::string>();
  for (const char* size : {"m", "n", "k", "ranks"}) {
    flags += " --" + std::string(size) + " " + problem.at(size).dump();
  }
  return flags;
}

TEST_F(Advise, sums_are_those_of_the_answers_of_query) {
  const json all = advice("--model small.json --tokens 2k,4k --tp 4");
  ASSERT_EQ(all.at("passes").size(), 4U);
  int exact = 0;
  for (const json& pass : all.at("passes")) {
    double sequential = 0;
    double overlapped = 0;
    for (const json& each : pass.at("operations")) {
      if (each.at("problem").at("op") == "gemm") {
        EXPECT_EQ(pass.at("parallelism"), "tp");
        EXPECT_EQ(each.at("overlapped_us"), each.at("sequential_us"));
        EXPECT_TRUE(each.at("strategy").is_null());
        sequential += each.at("sequential_us").get<double>();
        overlapped += each.at("sequential_us").get<double>();
        continue;
      }
      const json answer = tool::json(*folder, question(each.at("problem")));
      EXPECT_EQ(each.at("source"), answer.at("source"));
      exact += answer.at("source") == "exact" ? 1 : 0;
      sequential += answer.at("baseline_us").get<double>();
      overlapped +=
          answer.at(answer.at("source") == "exact" ? "measured_us" : "predicted_us").get<double>();
    }
    ASSERT_EQ(pass.at("layers").size(), 1U);
    EXPECT_NEAR(pass.at("layers")[0].at("sequential_us"), sequential, 1e-6);
    EXPECT_NEAR(pass.at("layers")[0].at("overlapped_us"), overlapped, 1e-6);
    EXPECT_NEAR(pass.at("overlapped_us"), 3 * overlapped, 1e-5);
    EXPECT_NEAR(pass.at("saved_us"), 3 * (sequential - overlapped), 1e-5);
    EXPECT_NEAR(pass.at("speedup"), sequential / overlapped, 1e-9);
    EXPECT_NEAR(pass.at("us_per_token").get<double>() * pass.at("tokens").get<double>(),
                3 * overlapped, 1e-5);
  }
  EXPECT_EQ(exact, 1);
}

TEST_F(Advise, shapes_of_a_small_llama_divided_by_hand) {
  const json passes = advice("--model small.json --tokens 2k --tp 4").at("passes");
  ASSERT_EQ(passes.size(), 2U);
  for (const json& pass : passes) {
    const bool sequence = pass.at("parallelism") == "sp";
    // 2 query heads, 1 head of keys and 1 of values of 128 on each of 4 ranks.
    const std::map<std::string, std::tuple<std::string, int, int>> expected{
        {"qkv", {sequence ? "all_gather_gemm" : "gemm", 512, 1024}},
        {"o", {sequence ? "gemm_reduce_scatter" : "gemm_all_reduce", 1024, 256}},
        {"gate_up", {sequence ? "all_gather_gemm" : "gemm", 2048, 1024}},
        {"down", {sequence ? "gemm_reduce_scatter" : "gemm_all_reduce", 1024, 1024}}};
    const auto found = by_product(pass);
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [product, shape] : expected) {
      const json& problem = found.at(product).at("problem");
      EXPECT_EQ(std::tuple(problem.at("op").get<std::string>(), problem.at("n").get<int>(),
                           problem.at("k").get<int>()),
                shape);
      EXPECT_EQ(problem.at("m"), 2048);
      EXPECT_EQ(found.at(product).at("times_per_pass"), 3);
    }
  }
}

TEST_F(Advise, layers_with_experts_are_counted_apart) {
  const json all = advice("--model experts.json --tokens 2k --tp 4 --sequence-parallel yes");
  const json pass = all.at("passes").at(0);
  const auto of = by_product(pass);
  const std::map<std::string, int> times{{"qkv", 3},        {"o", 3},
                                         {"gate_up", 1},    {"down", 1},
                                         {"dispatch", 2},   {"experts_gate_up", 2},
                                         {"combine", 2},    {"shared_gate_up", 2},
                                         {"shared_down", 2}};
  ASSERT_EQ(of.size(), times.size());
  double total = 0;
  double sparse = 0;
  for (const auto& [product, count] : times) {
    EXPECT_EQ(of.at(product).at("times_per_pass"), count) << product;
    const double time = of.at(product).at("overlapped_us");
    total += count * time;
    if (count != 1) sparse += time;
  }
  EXPECT_NEAR(pass.at("overlapped_us"), total, 1e-5);
  ASSERT_EQ(pass.at("layers").size(), 2U);
  EXPECT_EQ(pass.at("layers")[0].at("kind"), "dense");
  EXPECT_EQ(pass.at("layers")[0].at("layers"), 1);
  EXPECT_EQ(pass.at("layers")[1].at("layers"), 2);
  EXPECT_NEAR(pass.at("layers")[1].at("overlapped_us"), sparse, 1e-6);
  EXPECT_THAT(all.at("notes").dump(), HasSubstr("the experts (16 in each of 2 layers)"));
}

/// 2048 tokens pass 4 experts each, a fourth of them on each of 4 ranks.
TEST_F(Advise, the_way_to_experts_and_back_has_times_of_its_own) {
  const json passes = advice("--model experts.json --tokens 2k --tp 4").at("passes");
  const auto sequence = by_product(passes.at(0));
  const json dispatch = sequence.at("dispatch");
  EXPECT_EQ(dispatch.at("problem"),
            json::parse(R"({"op": "all_to_all", "m": 2048, "n": 1024, "k": null, "dtype": "bf16",
                            "ranks": 4})"));
  EXPECT_EQ(dispatch.at("sequential_us"), dispatch.at("overlapped_us"));
  EXPECT_TRUE(dispatch.at("strategy").is_null());
  const json combine = sequence.at("combine");
  const json answer =
      tool::json(*folder, "query --db f.db --problem gemm_all_to_all:2048,1024,512:bf16:4");
  EXPECT_EQ(combine.at("sequential_us"), answer.at("baseline_us"));
  EXPECT_EQ(combine.at("overlapped_us"), answer.at("predicted_us"));
  // `sequential` adds an all-to-all to its GEMM: dispatch is that all-to-all alone.
  const double gemm = by_product(passes.at(1)).at("experts_down").at("sequential_us");
  EXPECT_NEAR(dispatch.at("sequential_us").get<double>() + gemm,
              combine.at("sequential_us").get<double>(),
              0.1 * combine.at("sequential_us").get<double>());
}

TEST_F(Advise, plain_tp_adds_up_the_rows_of_experts_once) {
  folder->write("mixtral.json", R"({"model_type": "mixtral", "hidden_size": 1024,
      "intermediate_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2,
      "num_local_experts": 8, "num_experts_per_tok": 2, "torch_dtype": "bfloat16"})");
  const std::string flags = " --tokens 2k --tp 4 --sequence-parallel no";
  const auto mixtral = by_product(advice("--model mixtral.json" + flags).at("passes").at(0));
  EXPECT_EQ(mixtral.at("combine").at("problem").at("op"), "all_reduce");
  EXPECT_EQ(mixtral.at("combine").at("problem").at("m"), 2048);
  EXPECT_EQ(mixtral.count("dispatch"), 0U);
  const auto shared = by_product(advice("--model experts.json" + flags).at("passes").at(0));
  EXPECT_EQ(shared.count("combine"), 0U);
  EXPECT_EQ(shared.count("shared_down"), 1U);
}

/// A plain GEMM has the time that the model gives to the GEMM of the same shape in `sequential`.
TEST_F(Advise, plain_gemms_have_the_time_of_the_gemm_alone) {
  const auto plain = by_product(
      advice("--model small.json --tokens 4k --tp 4 --sequence-parallel no").at("passes").at(0));
  const json predicted = tool::json(*folder,
                                    "query --explain --db f.db --op all_gather_gemm --m 4k --n "
                                    "2048 --k 1024 --dtype bf16 --ranks 4");
  for (const json& other : predicted.at("explanation").at("alternatives")) {
    if (other.at("config").at("strategy") != "sequential") continue;
    const double alone = other.at("gemm_alone_us");
    EXPECT_GE(plain.at("gate_up").at("overlapped_us"), alone);  // with the launch of a graph
    EXPECT_LT(plain.at("gate_up").at("overlapped_us"), alone + 20);
    return;
  }
  FAIL() << "sequential is not among the alternatives";
}

TEST_F(Advise, rank_counts_without_probes_are_named_and_left_out) {
  const json all = advice("--model small.json --tokens 2k --tp 2,4,8");
  EXPECT_EQ(all.at("passes").size(), 2U);
  std::map<int, std::string> reasons;
  for (const json& each : all.at("left_out")) reasons[each.at("tp")] = each.at("reason");
  EXPECT_EQ(reasons.size(), 2U);
  EXPECT_THAT(reasons[2], HasSubstr("no collective on 2 ranks is stored"));
  EXPECT_THAT(reasons[8], HasSubstr("has 4 GPUs, and the rate between nodes was not probed"));
  const tool::Outcome none =
      tool::run(*folder, "advise --db f.db --model small.json --tokens 2k --tp 2");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("probe --ranks 2"));
}

TEST_F(Advise, the_fastest_division_has_the_least_time_a_token) {
  const json all =
      tool::json(*folder, "advise --machine sim:rtx4090-pcie-x4 --model small.json --tokens 2k,8k");
  EXPECT_EQ(all.at("passes").size(), 8U);  // 2 and 4 ranks, two ways, two numbers of tokens
  ASSERT_EQ(all.at("fastest").size(), 2U);
  for (const json& best : all.at("fastest")) {
    for (const json& pass : all.at("passes")) {
      if (pass.at("tokens") != best.at("tokens")) continue;
      EXPECT_LE(best.at("us_per_token"), pass.at("us_per_token"));
      EXPECT_EQ(pass.at("operations")[0].at("source"), "predicted");
    }
  }
  EXPECT_EQ(all.at("simulated"), true);
}

TEST_F(Advise, takes_the_usual_database_unless_there_is_a_machine) {
  setenv("OVERLAPTUNE_DB", "f.db", 1);
  const json all = tool::json(*folder, "advise --model small.json --tokens 2k");
  EXPECT_EQ(all.at("platform"), "rtx4090-pcie-x4");
  const json probed =
      tool::json(*folder, "advise --machine sim:h200-nvlink-x2 --model small.json --tokens 2k");
  unsetenv("OVERLAPTUNE_DB");
  EXPECT_EQ(probed.at("platform"), "h200-nvlink-x2");
}

TEST_F(Advise, every_line_with_figures_says_that_they_are_simulated) {
  const tool::Outcome outcome =
      tool::run(*folder, "advise --db f.db --model small.json --tokens 2k");
  EXPECT_EQ(outcome.status, 0);
  std::istringstream lines(outcome.out);
  int figures = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("| ") != 0 && line.find("Fastest") != 0) continue;
    if (line.find("machine") != line.npos || line.find("---") != line.npos) continue;
    ++figures;
    EXPECT_TRUE(line.find("sim:rtx4090-pcie-x4") != line.npos ||
                line.find("(simulated)") != line.npos)
        << line;
  }
  EXPECT_EQ(figures, 2 + 1 + 2 * (4 + 2));  // passes, the fastest, operations with their sums
  EXPECT_THAT(outcome.out, HasSubstr("Note: attention itself"));
}

/// The quick probes are of the model's own elements; a database without them names what it lacks.
TEST_F(Advise, models_of_8_bits) {
  std::string quantized = kLlama;
  quantized.insert(
      1, R"("quantization_config": {"quant_method": "fp8", "activation_scheme": "static"}, )");
  folder->write("quantized.json", quantized);
  const json all = tool::json(*folder,
                              "advise --machine sim:h200-nvlink-x2 --model quantized.json --tp 2 "
                              "--tokens 1k --sequence-parallel no");
  for (const json& pass : all.at("passes")) {
    for (const auto& [product, operation] : by_product(pass)) {
      EXPECT_THAT(operation.at("problem").at("dtype").get<std::string>(), HasSubstr("e4m3"))
          << product;
    }
  }
  const auto refusal = [](const std::string& database, int tp) {
    return tool::run(*folder, "advise --tokens 1k --model quantized.json --db " + database +
                                  " --tp " + std::to_string(tp));
  };
  tool::json(*folder, "probe --machine sim:h200-nvlink-x2 --db bf16.db --quick");
  EXPECT_EQ(refusal("bf16.db", 2).status, 2);
  EXPECT_THAT(refusal("bf16.db", 2).err, HasSubstr("run `overlaptune probe --dtype e4m3_"));
  EXPECT_THAT(refusal("f.db", 4).err, HasSubstr("has no kernels for 8-bit operands"));
}

}  // namespace
}  // namespace overlaptune
