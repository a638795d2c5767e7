// `overlaptune tune`, on simulated machines.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using tool::Folder;
using tool::kTune;

class TuneCommand : public tool::Tuned {};

TEST_F(TuneCommand, tune_tells_what_it_did) {
  EXPECT_EQ(tuned->at("winners").size(), 2U);
  EXPECT_EQ(tuned->at("resumed"), 0);
  EXPECT_EQ(tuned->at("failed"), 0);
  EXPECT_EQ(tuned->at("stopped"), false);
  const int measured = tuned->at("measured");
  EXPECT_GE(measured, 2 * (1 + 3));
  for (const json& winner : tuned->at("winners")) {
    EXPECT_LE(winner.at("measured_us"), winner.at("sequential_us"));
    EXPECT_GT(winner.at("predicted_us"), 0);
    EXPECT_NE(winner.at("config").at("strategy"), "sequential");
    EXPECT_GT(winner.at("overlap_fraction"), 0);
    EXPECT_LE(winner.at("overlap_fraction"), 1);
  }
}

TEST_F(TuneCommand, tune_resumed_measures_nothing_and_says_the_same) {
  const json again = tool::json(*folder, kTune + " --resume");
  EXPECT_EQ(again.at("measured"), 0);
  EXPECT_EQ(again.at("resumed"), tuned->at("measured"));
  EXPECT_EQ(again.at("run"), tuned->at("run"));
  EXPECT_EQ(again.at("winners"), tuned->at("winners"));
  const tool::Outcome other = tool::run(*folder, kTune + " --resume --seed 9");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--resume"));
}

TEST_F(TuneCommand, tune_ends_with_a_table_and_the_next_commands) {
  const tool::Outcome outcome = tool::run(*folder, kTune + " --resume");
  EXPECT_EQ(outcome.status, 0);
  for (const char* words :
       {"predicted µs", "hidden", "Database: f.db", "overlaptune report --db f.db",
        "overlaptune query --db f.db --problem"}) {
    EXPECT_THAT(outcome.out, HasSubstr(words));
  }
  // The query that it suggests finds the winner.
  const auto query = outcome.out.find("query --db");
  const auto line = outcome.out.substr(query, outcome.out.find('\n', query) - query);
  EXPECT_EQ(tool::json(*folder, line + " --json").at("source"), "exact") << line;
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("left")));       // no progress bar in a pipe
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("| product")));  // no model has the problem
}

TEST(Tune, what_the_problems_of_a_model_are_is_kept_and_shown) {
  const Folder folder;
  folder.write("small.json", R"({"model_type": "llama", "hidden_size": 1024,
      "intermediate_size": 4096, "num_attention_heads": 8, "num_hidden_layers": 24})");
  const std::string tune =
      "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 --model small.json "
      "--tp 4 --tokens 512";
  // Per rank `o` is 1024 x 1024 / 4 and `down` 1024 x 4096 / 4.
  const auto product = [](const char* name) {
    return json::array({{{"model", "small"},
                         {"product", name},
                         {"parallelism", "tp"},
                         {"tokens", 512},
                         {"times_per_pass", 24}}});
  };
  const auto expect_products = [&](const json& document) {
    ASSERT_EQ(document.at("winners").size(), 2U);
    for (const json& winner : document.at("winners")) {
      EXPECT_EQ(winner.at("layer_gemms"),
                product(winner.at("problem").at("k") == 256 ? "o" : "down"));
    }
  };
  expect_products(tool::json(folder, tune));
  EXPECT_THAT(tool::run(folder, tune + " --resume").out, HasSubstr("| small down ×24 |"));
  EXPECT_THAT(tool::run(folder, "report --db f.db").out, HasSubstr("| small down ×24 |"));
  expect_products(tool::json(folder, "report --db f.db"));

  EXPECT_EQ(tool::run(folder, "db export --db f.db --out f.json").status, 0);
  EXPECT_EQ(tool::json(folder, "db import --db copy.db f.json").at("layer_gemms"), 2);
  EXPECT_EQ(tool::json(folder, "db merge --db merged.db f.db copy.db").at("layer_gemms"), 2);
  expect_products(tool::json(folder, "report --db merged.db"));
}

TEST(Tune, faults_cost_only_themselves) {
  const Folder folder;
  const json result =
      tool::json(folder,
                 "tune --machine sim:rtx4090-pcie-x4 --db f.db --explore 12 --sim-faults "
                 "hang=0.1,wrong=0.1,crash=0.1 --problem gemm_all_reduce:4k,4k,1k:bf16:4");
  EXPECT_GT(result.at("failed"), 0);
  EXPECT_EQ(result.at("winners").size(), 1U);
  const json failures = tool::json(folder, "report --db f.db").at("failures");
  EXPECT_EQ(failures.size(), result.at("failed").get<std::size_t>());
}

TEST(Tune, nothing_valid_is_exit_code_5) {
  const Folder folder;
  const tool::Outcome outcome =
      tool::run(folder,
                "tune --machine sim:rtx4090-pcie-x4 --db f.db --sim-faults wrong=1,sequential=1 "
                "--problem gemm_all_reduce:4k,4k,1k:bf16:4");
  EXPECT_EQ(outcome.status, 5) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Tune, a_full_disk_is_exit_code_6) {
  const Folder folder;
  const tool::Outcome outcome =
      tool::run(folder, "probe --machine sim:rtx4090-pcie-x4 --db f.db", rlim_t{128 * 1024});
  EXPECT_EQ(outcome.status, 6) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("f.db"));
}

}  // namespace
}  // namespace overlaptune
