// `overlaptune sequences` from files to plans, and what it refuses.

#include <algorithm>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using tool::Folder;

const std::string kCosts = " --costs " + std::string(OVERLAPTUNE_SOURCE_DIR) +
                           "/examples/sequence_costs/flexsp-a100.json ";
const std::string kGpus =
    "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 16k --memory 34G ";

TEST(Sequences, prints_plans_that_hold_every_sequence) {
  const Folder folder;
  folder.write("lengths.txt",
               "100\n200\n300\n400\n5000\n6000\n7000\n8000\n90000\n1\n2\n3\n4\n5\n6\n7\n8\n");
  const auto outcome = tool::run(
      folder, kGpus + kCosts + "--model gpt-7b --lengths lengths.txt --json --out plan.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(document["too_long"], 1);
  ASSERT_EQ(document["batches"].size(), 2U);
  double sum = 0;
  for (const auto& batch : document["batches"]) {
    std::size_t sequences = 0;
    double time = 0;
    for (const auto& part : batch["micro_batches"]) {
      double slowest = 0;
      for (const auto& group : part["groups"]) {
        sequences += group["sequences"].size();
        slowest = std::max(slowest, group["time_us"].get<double>());
      }
      time += slowest;
    }
    EXPECT_EQ(sequences, 8U);
    EXPECT_NEAR(batch["time_us"].get<double>(), time, 1e-6 * time);
    EXPECT_LE(batch["lower_bound_us"].get<double>(), time);
    EXPECT_LE(time, batch["batch_adaptive_us"].get<double>());
    sum += time;
  }
  EXPECT_NEAR(document["mean_time_us"].get<double>(), sum / 2, 1e-6 * sum);
  std::ifstream file(folder / "plan.json");
  EXPECT_EQ(nlohmann::json::parse(file)["batches"].size(), 2U);
}

TEST(Sequences, a_person_reads_a_table_and_a_picture) {
  const Folder folder;
  folder.write("lengths.txt", "100\n200\n300\n400\n5000\n6000\n7000\n80000\n");
  const auto outcome =
      tool::run(folder, kGpus + kCosts + "--model gpt-7b --lengths lengths.txt --cut --picture");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 sequence above 16384 tokens was cut"));
  EXPECT_THAT(outcome.out, HasSubstr("lower bound"));
  EXPECT_THAT(outcome.out, HasSubstr("ends a micro-batch"));
}

TEST(Sequences, the_degree_divides_the_heads) {
  const Folder folder;
  folder.write("lengths.txt", "40000\n100\n200\n300\n");
  const std::string line =
      "sequences --gpus 8 --gpus-per-node 8 --batch 4 --max-length 64k --memory 60G" + kCosts +
      "--model gpt-7b --lengths lengths.txt --json ";
  const auto widest = [&](const std::string& flags) {
    const auto outcome = tool::run(folder, line + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    int most = 0;
    const auto document = nlohmann::json::parse(outcome.out);
    for (const auto& batch : document["batches"]) {
      for (const auto& part : batch["micro_batches"]) {
        for (const auto& group : part["groups"]) most = std::max(most, group["degree"].get<int>());
      }
    }
    return most;
  };
  EXPECT_EQ(widest("--least-degree 8"), 8);
  EXPECT_LE(widest("--heads 28"), 4);
  EXPECT_EQ(widest("--heads 28 --least-degree 4"), 4);
  const auto refused = tool::run(folder, line + "--heads 28 --least-degree 8");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--least-degree 8: expected at most 4"));
}

TEST(Sequences, says_what_does_not_fill_a_batch) {
  const Folder folder;
  folder.write("lengths.txt", "100\n200\n300\n400\n500\n");
  const std::string line = "sequences --gpus 8 --gpus-per-node 8 --max-length 16k --memory 34G" +
                           kCosts + "--model gpt-7b --heads 32 --lengths lengths.txt --batch ";
  const auto large = tool::run(folder, line + "1000");
  ASSERT_EQ(large.status, 0) << large.err;
  EXPECT_THAT(large.out, HasSubstr("has 5 sequences: they do not fill a batch of 1000"));
  EXPECT_THAT(large.out, HasSubstr("1 batch of 5 sequences on 8 GPUs"));
  const auto rest = tool::run(folder, line + "2");
  EXPECT_THAT(rest.out, HasSubstr("the last 1 sequences of lengths.txt do not fill a batch"));
  EXPECT_THAT(rest.out, HasSubstr("2 batches of 2 sequences on 8 GPUs"));
}

TEST(Sequences, a_plan_names_the_sequences_of_the_file) {
  const Folder folder;
  folder.write("lengths.txt", "100\n90000\n301\n200\n");
  const auto outcome = tool::run(folder, kGpus + kCosts +
                                             "--model gpt-7b --lengths lengths.txt --json --pad 4 "
                                             "--micro-batch-multiple 3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto batch = nlohmann::json::parse(outcome.out)["batches"][0];
  EXPECT_EQ(batch["micro_batches"].size(), 3U);
  std::map<int, int> found;
  for (const auto& part : batch["micro_batches"]) {
    for (const auto& group : part["groups"]) {
      for (std::size_t i = 0; i < group["indices"].size(); ++i) {
        const int length = group["lengths"][i];
        const int padded = group["sequences"][i];
        const int multiple = 4 * group["degree"].get<int>();
        found[group["indices"][i].get<int>()] = length;
        EXPECT_EQ(padded % multiple, 0);
        EXPECT_LT(padded - length, multiple);
      }
    }
  }
  EXPECT_EQ(found, (std::map<int, int>{{0, 100}, {2, 301}, {3, 200}}));
}

TEST(Sequences, bad_input_is_one_line) {
  const Folder folder;
  folder.write("good.txt", "100\n200\n");
  folder.write("zero.txt", "100\n0\n");
  folder.write("word.txt", "100\nmany\n");
  folder.write("empty.txt", "");
  folder.write("long.txt", "15000000\n");
  folder.write("costs.json", R"({"models": {"m": {"a1": 1}}})");
  const auto refuse = [&](const std::string& line, const std::string& words) {
    SCOPED_TRACE(line);
    const auto before = folder.entries();
    const auto outcome = tool::run(folder, line);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(folder.entries(), before);
  };
  const std::string model = kCosts + "--model gpt-7b --out plan.json ";
  refuse(kGpus + model + "--lengths zero.txt", "zero.txt: line 2: length '0'");
  refuse(kGpus + model + "--lengths word.txt", "word.txt: line 2: length 'many'");
  refuse(kGpus + model + "--lengths empty.txt", "empty.txt");
  refuse(kGpus + model + "--lengths none.txt", "none.txt");
  refuse(kGpus + model + "--lengths long.txt", "every sequence is longer");
  const std::string rest = "--batch 8 --max-length 16M --memory 34G --lengths good.txt ";
  refuse("sequences --gpus 6 --gpus-per-node 2 " + rest + model,
         "--gpus 6: expected a power of two");
  refuse("sequences --gpus 8 --gpus-per-node 16 " + rest + model, "--gpus 8: expected a multiple");
  refuse(
      "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 16M --memory 34G --lengths "
      "long.txt " +
          model,
      "a sequence of 15000000 tokens needs");
  refuse(
      "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 16k --memory 1G --lengths "
      "good.txt " +
          model,
      "the state of the model alone takes");
  refuse(kGpus + "--lengths good.txt", "expected --costs FILE or --db FILE");
  refuse(kGpus + "--lengths good.txt --costs costs.json --model m", "a2");
  refuse("sequences --gpus 8 --gpus-per-node 4 " + rest + model,
         "--gpus-per-node 4: the bandwidths in");
  refuse(kGpus + model + "--lengths good.txt --micro-batch-multiple 3",
         "has too few sequences for so many micro-batches");
  refuse(kGpus + model + "--lengths good.txt --most-degree 3",
         "--most-degree 3: expected a power of two");
  refuse(kGpus + "--lengths good.txt" + kCosts + "--model gpt-9b",
         "expected one of gpt-13b, gpt-30b, gpt-7b");
  refuse(kGpus + "--lengths good.txt" + kCosts + "--model gpt-7b --recompute", "expected --db");
}

}  // namespace
}  // namespace overlaptune
