// `overlaptune query`, on a database that a small run has filled.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;
using tool::kKnown;

class QueryCommand : public tool::Tuned {};

const std::string kUnknown =
    " --db f.db --op gemm_all_reduce --m 6k --n 4k --k 1k --dtype bf16"
    " --ranks 4";

TEST_F(QueryCommand, query_answers_what_is_allowed) {
  const json winner = tool::json(*folder, "query" + kKnown);
  const json sequential = tool::json(*folder, "query" + kKnown + " --strategies sequential");
  EXPECT_EQ(sequential.at("source"), "exact");
  EXPECT_EQ(sequential.at("config").at("strategy"), "sequential");
  EXPECT_GE(sequential.at("measured_us"), winner.at("measured_us"));
  const std::string all = " --strategies sequential,chunked,signaled,waiting,peer_store";
  EXPECT_EQ(tool::json(*folder, "query" + kKnown + all).at("config"), winner.at("config"));
  const json fewer = tool::json(*folder, "query" + kKnown + " --free-sms 32");
  EXPECT_EQ(fewer.at("source"), "predicted");
  EXPECT_TRUE(fewer.at("measured_us").is_null());
  EXPECT_THAT(fewer.at("reason").get<std::string>(),
              HasSubstr("nothing was measured with 32 SMs left free"));
  const std::pair<const char*, const char*> wrong[] = {
      {" --strategies waiting", "no answer of the allowed strategies (waiting)"},
      {" --strategies fast", "strategy 'fast'"},
      {" --free-sms -1", "expected a whole number from 0"},
      {" --free-sms 128", "free_sms = 128: expected fewer than the 128 SMs of the GPU"}};
  for (const auto& [flags, words] : wrong) {
    const tool::Outcome outcome = tool::run(*folder, "query" + kKnown + flags);
    EXPECT_EQ(outcome.status, 2) << flags;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
}

TEST_F(QueryCommand, query_is_exact_for_what_was_tuned) {
  const json answer = tool::json(*folder, "query" + kKnown);
  EXPECT_EQ(answer.at("source"), "exact");
  EXPECT_EQ(answer.at("platform"), "rtx4090-pcie-x4");
  EXPECT_EQ(answer.at("launch"), "graph");
  EXPECT_EQ(answer.at("problem"), (json{{"op", "gemm_all_reduce"},
                                        {"m", 4096},
                                        {"n", 4096},
                                        {"k", 1024},
                                        {"dtype", "bf16"},
                                        {"ranks", 4}}));
  const json& winner = tuned->at("winners").at(0);
  EXPECT_EQ(answer.at("config"), winner.at("config"));
  EXPECT_EQ(answer.at("measured_us"), winner.at("measured_us"));
  EXPECT_EQ(answer.at("baseline_us"), winner.at("sequential_us"));
  for (const char* field : {"strategy", "block_m", "block_n", "block_k", "stages", "comm_ctas",
                            "wave_groups", "chunks", "transport"}) {
    EXPECT_TRUE(answer.at("config").contains(field)) << field;
  }
}

/// A damaged row is not an answer, and its bytes do not reach the document.
TEST_F(QueryCommand, query_of_a_damaged_winner_predicts_and_says_why) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database database((own / "f.db").string(), SQLite::OPEN_READWRITE);
  for (const char* change : {"measured_median_us = measured_median_us / 64", "predicted_us = 1e40",
                             "config = CAST(x'ff20ff' AS TEXT)", "reason = CAST(x'ff' AS TEXT)",
                             "validated_at = '2026'"}) {
    database.exec("BEGIN");
    database.exec(std::string("UPDATE winners SET ") + change);
    database.exec("COMMIT");
    const json answer = tool::json(own, "query" + kKnown);
    EXPECT_EQ(answer.at("source"), "predicted") << change;
    EXPECT_THAT(answer.at("reason"), HasSubstr("is damaged (")) << change;
    const tool::Outcome checked = tool::run(own, "db check --db f.db --json");
    EXPECT_EQ(checked.status, 4);
    EXPECT_GE(json::parse(checked.out).at("problems").size(), 2U);
  }
}

/// The name of a file may hold any bytes.
TEST_F(QueryCommand, json_of_a_path_that_is_not_utf8) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "\xff.db");
  for (const std::string command :
       {"db info --db \xff.db", "db check --db \xff.db", "db merge --db \xfe.db \xff.db",
        "evaluate --db \xff.db", "probe --machine sim:rtx4090-pcie-x4 --quick --db \xfd.db"}) {
    const tool::Outcome outcome = tool::run(own, command + " --json");
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_TRUE(json::accept(outcome.out)) << command;
  }
}

TEST_F(QueryCommand, query_predicts_what_was_not) {
  for (const std::string& question : {kUnknown, kKnown + " --launch eager"}) {
    const json answer = tool::json(*folder, "query" + question);
    EXPECT_EQ(answer.at("source"), "predicted");
    EXPECT_TRUE(answer.at("measured_us").is_null());
    EXPECT_LE(answer.at("predicted_us"), answer.at("baseline_us"));
    EXPECT_THAT(answer.at("reason").get<std::string>(), HasSubstr("no winner is stored"));
  }
}

TEST_F(QueryCommand, a_predicted_sequential_stands_beside_nccl_s_own_ring) {
  const json answer = tool::json(*folder, "query --strategies sequential" + kUnknown);
  ASSERT_EQ(answer.at("source"), "predicted");
  EXPECT_EQ(answer.at("predicted_us"), answer.at("baseline_us"));
  const json& config = answer.at("config");
  const bool plain = config.at("transport") == "ring" && config.at("comm_ctas").is_null();
  ASSERT_EQ(answer.at("nccl_ring_us").is_null(), plain) << answer;
  if (!plain) {
    EXPECT_GE(answer.at("nccl_ring_us"), answer.at("baseline_us"));  // that is the fastest
  }
}

TEST_F(QueryCommand, query_falls_back_to_the_baseline) {
  const json answer = tool::json(*folder,
                                 "query --db f.db --op gemm_all_reduce --m 6k --n 4k "
                                 "--k 1k --dtype bf16 --ranks 2");
  EXPECT_EQ(answer.at("source"), "baseline");
  EXPECT_EQ(answer.at("config").at("strategy"), "sequential");
  EXPECT_TRUE(answer.at("predicted_us").is_null());
}

TEST_F(QueryCommand, query_explains_the_choice_of_the_model) {
  const json whole = tool::json(*folder, "query --explain" + kKnown);
  const json& answer = whole.at("explanation");
  const json& timeline = answer.at("timeline");
  ASSERT_FALSE(timeline.empty());
  for (const json& group : timeline) {
    EXPECT_LE(group.at("ready_us"), group.at("start_us"));
    EXPECT_LE(group.at("start_us"), group.at("end_us"));
    EXPECT_LE(group.at("exposed_us").get<double>(),
              group.at("end_us").get<double>() - group.at("start_us").get<double>() + 1e-6);
  }
  EXPECT_FALSE(answer.at("alternatives").empty());
  for (const json& other : answer.at("alternatives")) {
    EXPECT_GE(other.at("predicted_us"), answer.at("predicted_us"));
    EXPECT_NE(other.at("config"), answer.at("config"));
  }
  const tool::Outcome text = tool::run(*folder, "query --explain" + kKnown);
  EXPECT_THAT(text.out, HasSubstr("exposed"));
  // The answer itself is the one that `query` gives without the explanation.
  json plain = whole;
  plain.erase("explanation");
  EXPECT_EQ(plain, tool::json(*folder, "query" + kKnown));
  EXPECT_THAT(text.out, testing::StartsWith(tool::run(*folder, "query" + kKnown).out));
}

TEST_F(QueryCommand, query_writes_a_trace_of_what_it_explains) {
  const json answer =
      tool::json(*folder, "query --explain --trace predicted.json" + kKnown).at("explanation");
  std::ifstream in(*folder / "predicted.json");
  const json trace = json::parse(in);
  std::vector<double> ready;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "i" && event.at("pid") == 0) ready.push_back(event.at("ts"));
  }
  const json& timeline = answer.at("timeline");
  ASSERT_EQ(ready.size(), timeline.size());
  for (std::size_t i = 0; i < ready.size(); ++i) {
    EXPECT_EQ(ready[i], timeline[i].at("ready_us"));
  }
  EXPECT_THAT(trace.at("otherData").at("title").get<std::string>(), HasSubstr("predicted"));
  EXPECT_EQ(tool::run(*folder, "query --explain --trace f.db" + kKnown).status, 2);
  EXPECT_EQ(tool::run(*folder, "query --trace t.json" + kKnown).status, 2);
}

TEST_F(QueryCommand, query_prints_the_recipe_of_a_weight) {
  const json recipe = tool::json(*folder, "query --family" + kKnown);
  const json& ranges = recipe.at("ranges");
  ASSERT_FALSE(ranges.empty());
  EXPECT_EQ(ranges.front().at("from"), 1);
  EXPECT_EQ(ranges.back().at("to"), recipe.at("problem").at("m"));
  // The rows of the question are those of a winner.
  const json answer = tool::json(*folder, "query" + kKnown);
  EXPECT_EQ(ranges.back().at("from"), ranges.back().at("to"));
  EXPECT_EQ(ranges.back().at("strategy"), answer.at("config").at("strategy"));
  const std::string text = recipe.at("text");
  EXPECT_THAT(tool::run(*folder, "query --family" + kKnown).out, HasSubstr("\n" + text + "\n"));
  EXPECT_EQ(tool::run(*folder, "query --family --explain" + kKnown).status, 2);
}

}  // namespace
}  // namespace overlaptune
