// The first lines of the commands that plan, beside the figures of their JSON.

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;

const std::string kModel = std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/llama-3-8b.json";

std::vector<std::string> first_lines(const Folder& folder, const std::string& command_line) {
  const tool::Outcome outcome = tool::run(folder, command_line);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream text(outcome.out);
  std::vector<std::string> lines(3);
  for (std::string& line : lines) std::getline(text, line);
  return lines;
}

/// The numbers of a sentence behind `words`, times in microseconds.
std::vector<double> numbers_after(const std::string& line, const std::string& words) {
  std::vector<double> numbers;
  const std::size_t at = line.find(words);
  EXPECT_NE(at, line.npos) << line;
  const std::string rest = line.substr(at == line.npos ? line.size() : at + words.size());
  const std::regex number(R"(([0-9]+\.?[0-9]*)( us| ms| s)?\b)");
  for (std::sregex_iterator it(rest.begin(), rest.end(), number), end; it != end; ++it) {
    const std::string unit = (*it)[2];
    const double scale = unit == " ms" ? 1e3 : unit == " s" ? 1e6 : 1;
    numbers.push_back(std::stod((*it)[1]) * scale);
  }
  return numbers;
}

/// Whether a number of three digits stands for the value.
void expect_shown(double shown, double value) {
  EXPECT_NEAR(shown, value, 0.006 * std::abs(value)) << shown;
}

TEST(Headline, advise_says_the_gain_of_most_and_fewest_tokens) {
  const Folder folder;
  const std::string question =
      "advise --machine sim:rtx4090-pcie-x4 --tp 2,4 --tokens 2k,1k,4k --model " + kModel;
  const auto lines = first_lines(folder, question);
  const json answer = tool::json(folder, question + " --json");
  const auto gain = [&](int tokens) {
    std::vector<double> speedups;
    double saved = 0;
    for (const json& pass : answer.at("passes")) {
      if (pass.at("tokens") != tokens) continue;
      speedups.push_back(pass.at("speedup"));
      saved = std::max(saved, pass.at("saved_us").get<double>());
    }
    const auto [low, high] = std::minmax_element(speedups.begin(), speedups.end());
    return std::array{*low, *high, saved};
  };
  EXPECT_THAT(lines[0], HasSubstr("Overlap makes a forward pass of llama-3-8b "));
  EXPECT_THAT(lines[0], HasSubstr(" at 4k tokens "));
  EXPECT_THAT(lines[0], HasSubstr(" at 1k "));
  const auto shown = numbers_after(lines[0], "llama-3-8b ");
  ASSERT_EQ(shown.size(), 5U) << lines[0];  // low, high, saved, low, high; "4k" is no number
  const auto most = gain(4096);
  const auto fewest = gain(1024);
  expect_shown(shown[0], most[0]);
  expect_shown(shown[1], most[1]);
  expect_shown(shown[2], most[2]);
  expect_shown(shown[3], fewest[0]);
  expect_shown(shown[4], fewest[1]);
  for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("(simulated)"));
  EXPECT_THAT(lines[2], HasSubstr("assumed: not in the file: head_dim = 128"));
}

TEST(Headline, step_says_the_times_with_and_without_overlap) {
  const Folder folder;
  const std::string question =
      "step --machine sim:rtx4090-pcie-x4 --tp 4 --tokens 1k --model " + kModel;
  const auto lines = first_lines(folder, question);
  const json plan = tool::json(folder, question + " --json");
  EXPECT_THAT(lines[0], HasSubstr("a training step of llama-3-8b "));
  const auto shown = numbers_after(lines[0], "llama-3-8b ");
  ASSERT_EQ(shown.size(), 4U) << lines[0];
  expect_shown(shown[0],
               plan.at("sequential_us").get<double>() / plan.at("scheduled_us").get<double>());
  expect_shown(shown[1], plan.at("scheduled_us"));
  expect_shown(shown[2], plan.at("sequential_us"));
  expect_shown(shown[3], plan.at("ideal_us"));
  for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("(simulated)"));
}

TEST(Headline, sequences_has_its_batches_behind_verbose) {
  const Folder folder;
  folder.write("lengths.txt", "100\n200\n300\n400\n5000\n6000\n7000\n8000\n");
  const std::string question =
      "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 16k --memory 34G "
      "--model gpt-7b --lengths lengths.txt --costs " +
      std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/sequence_costs/flexsp-a100.json";
  const auto lines = first_lines(folder, question);
  EXPECT_THAT(lines[0], HasSubstr("times as fast as groups of"));
  EXPECT_THAT(lines[1], HasSubstr("1 batch of 8 sequences on 8 GPUs; costs: gpt-7b"));
  EXPECT_EQ(tool::run(folder, question).out.find("planned ms"), std::string::npos);
  EXPECT_THAT(tool::run(folder, question + " --verbose").out, HasSubstr("planned ms"));
}

TEST(Headline, whatif_says_the_time_and_what_it_rests_on) {
  const Folder folder;
  folder.write("mine.json", R"({"name": "mine", "description": "a ring",
    "launch_us": {"value": 0, "source": "test"}, "levels": [{"name": "wires", "kind": "ring",
    "size": 8, "links": {"value": 1, "source": "test"}, "gb_per_s": {"value": 10, "source": "test"},
    "latency_us": {"value": 0, "source": "test"}}]})");
  // Seven eighths of 8 GiB twice, half of them each way round at 10 GB/s: 752 ms.
  const auto lines =
      first_lines(folder, "whatif --cluster mine.json --op all_reduce --gpus 8 --bytes 1M,8G");
  EXPECT_EQ(
      lines[0],
      "all_reduce of 8 GiB over 8 GPUs takes 752 ms on mine (from data sheets, not measured)");
  EXPECT_EQ(lines[1], "mine: ring, bound by wires");
  const std::string question = "whatif --cluster hgx-h100 --data-parallel 8 --model " + kModel;
  const json step = tool::json(folder, question + " --json");
  const auto sentence = first_lines(folder, question);
  const auto shown = numbers_after(sentence[0], "from ");
  ASSERT_GE(shown.size(), 4U) << sentence[0];  // tokens, tokens, bytes, time
  EXPECT_NEAR(shown[0], step.at("hiding_tokens_per_replica"), 0.51);
  EXPECT_NEAR(shown[1], step.at("hiding_tokens"), 0.51);
  EXPECT_NEAR(shown[2], step.at("gradient_bytes").get<double>() / (1 << 30), 0.06);
  expect_shown(shown[3], step.at("all_reduce_us"));
  EXPECT_THAT(sentence[1], HasSubstr("assumed: a step reaches 40 % of the data sheet's rate"));
}

}  // namespace
}  // namespace overlaptune
