// The three ways to name one problem.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::kKnown;

class OneProblem : public tool::Tuned {};

/// A layer whose `o` and `down` are the problems that are tuned.
const std::string kSquareLayer = R"({"model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 2})";

TEST_F(OneProblem, a_problem_is_named_in_three_ways) {
  folder->write("square.json", kSquareLayer);
  const std::string sizes = kKnown.substr(std::string(" --db f.db").size());
  const std::vector<std::string> same{" --problem gemm_all_reduce:4k,4k,1k:bf16:4",
                                      " --problem gemm_all_reduce:4096,4096,1024:bf16:4",
                                      " --model square.json --layer down --tokens 4k --tp 4",
                                      " --model square.json --layer o --tokens 4096 --tp 4"};
  for (const std::string command :
       {"query --db f.db", "query --explain --db f.db",
        "run --machine sim:rtx4090-pcie-x4 --repetitions 2 --db f.db"}) {
    const json known = tool::json(*folder, command + sizes);
    EXPECT_EQ(known.at("problem").at("k"), 1024);
    for (const std::string& problem : same) {
      json answer = tool::json(*folder, command + problem);
      answer["assumptions"] = known.at("assumptions");
      EXPECT_EQ(answer, known) << command << problem;
    }
  }
  const json scattered = tool::json(
      *folder,
      "query --db f.db --model square.json --layer down --tokens 4k --tp 4 --sequence-parallel");
  EXPECT_EQ(scattered.at("source"), "exact");
  EXPECT_EQ(scattered.at("problem").at("op"), "gemm_reduce_scatter");
}

TEST_F(OneProblem, exclusive_worlds_have_winners_of_their_own) {
  const std::string query = "query --launch exclusive_graph" + kKnown;
  const json gated = tool::json(*folder, "query" + kKnown);
  const json carried = tool::json(*folder, query);
  EXPECT_EQ(carried.at("source"), "predicted");
  EXPECT_EQ(carried.at("config"), gated.at("config"));
  EXPECT_EQ(carried.at("predicted_us"), gated.at("measured_us"));
  EXPECT_THAT(carried.at("reason").get<std::string>(), HasSubstr("behind a gate"));

  const tool::Outcome both = tool::run(*folder, tool::kTune + " --launch graph,exclusive_graph");
  ASSERT_EQ(both.status, 0) << both.err;
  const json own = tool::json(*folder, query);
  EXPECT_EQ(own.at("source"), "exact");
  EXPECT_FALSE(own.at("measured_us").is_null());
}

TEST(OneProblemFlags, two_ways_at_once_and_parts_are_refused) {
  const tool::Folder folder;
  const std::string llama =
      std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/llama-3-70b.json";
  const std::string good = " --problem gemm_all_reduce:4k,8k,3584:bf16:8";
  const std::string layer = " --model " + llama + " --layer down --tokens 4k --tp 8";
  for (const std::string command : {"query --db none.db", "query --explain --db none.db",
                                    "run --machine sim:h200-nvlink-x8 --config sequential"}) {
    const auto expect = [&](const std::string& flags, const std::string& words) {
      const tool::Outcome outcome = tool::run(folder, command + flags);
      EXPECT_EQ(outcome.status, 2) << command << flags;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, HasSubstr(words));
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      EXPECT_TRUE(folder.entries().empty());
    };
    expect("", "no problem given: expected --problem OP:M,N,K:dtype:ranks, or --op");
    expect(good + " --m 4k", "--problem and --m: give one of");
    expect(good + layer, "--problem and --model: give one of");
    expect(layer + " --ranks 8", "--ranks and --model: give one of");
    expect(" --op gemm_all_reduce --m 4k", "--n, --k, --dtype, --ranks: missing beside --op, --m");
    expect(" --layer down --tp 8", "--model, --tokens: missing beside --layer, --tp");
    expect(" --model " + llama + " --layer qkv --tokens 4k --tp 8",
           "--layer qkv: expected one of o, down, or --sequence-parallel");
    expect(" --model " + llama + " --layer nose", "product 'nose': expected one of qkv, o");
    expect(good + " --sequence-parallel", "--sequence-parallel: expected only beside --model");
    expect(" --problem gemm_all_reduce:4k,8k:bf16:8", "expected OP:M,N,K:dtype:ranks");
    expect(" --model " + llama + " --layer down --tokens 4k --tp 3", "--tp 2, 4, 8");
  }
}

}  // namespace
}  // namespace overlaptune
