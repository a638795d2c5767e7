#include "tests/gpu/plan_check/options.hpp"

#include <gtest/gtest.h>

namespace overlaptune::plan_check {
namespace {

Expected<Options> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "plan_check");
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::string refusal(std::vector<const char*> words) {
  const auto options = parsed(std::move(words));
  return options ? "accepted" : options.error().message;
}

std::vector<Config> configs(const std::vector<const char*>& lines) {
  std::vector<Config> list;
  for (const char* line : lines) list.push_back(value_or_throw(parse_config(line)));
  return list;
}

const Problem kProblem{.op = Op::gemm_all_reduce,
                       .m = 256,
                       .n = 256,
                       .k = 256,
                       .elements = Elements::bf16,
                       .ranks = 2};

}  // namespace

TEST(PlanCheckOptions, select_an_op_and_a_strategy) {
  const auto options =
      parsed({"--op", "all_gather_gemm", "--strategy", "waiting", "--ranks-per-gpu", "2"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->selection.op, Op::all_gather_gemm);
  EXPECT_EQ(options->selection.strategy, strategy_of<Waiting>());
  EXPECT_EQ(options->ranks_per_gpu, 2);
}

TEST(PlanCheckOptions, are_one_rank_a_gpu_and_everything_by_default) {
  const auto options = parsed({});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->ranks_per_gpu, 1);
  EXPECT_FALSE(options->gives_memory);
  EXPECT_EQ(options->selection.op, std::nullopt);
  EXPECT_EQ(options->selection.strategy, std::nullopt);
}

TEST(PlanCheckOptions, refuse_times_of_ranks_that_share_a_gpu) {
  EXPECT_EQ(refusal({"--db", "some.db", "--ranks-per-gpu", "2"}),
            "--db: times of ranks that share a GPU mean nothing: leave out --ranks-per-gpu");
  EXPECT_EQ(refusal({"--db", "some.db", "--ranks-per-gpu", "1"}), "accepted");
}

TEST(PlanCheckOptions, divide_gpus_into_nodes) {
  EXPECT_EQ(parsed({"--nodes", "2"})->nodes, 2);
  EXPECT_EQ(refusal({"--nodes", "2", "--ranks-per-gpu", "2"}),
            "--nodes: expected neither --ranks-per-gpu nor --given-memory beside it");
  EXPECT_EQ(refusal({"--nodes", "0"}).find("--nodes: "), 0);
}

TEST(PlanCheckOptions, name_the_option_that_is_wrong) {
  EXPECT_EQ(refusal({"--strategy", "nope"}).find("--strategy: strategy 'nope': expected one of"),
            0);
  EXPECT_EQ(refusal({"--op", "nope"}).find("--op: op 'nope': expected one of"), 0);
  EXPECT_EQ(refusal({"--problem", "nope"}).find("--problem: problem 'nope': expected"), 0);
  EXPECT_EQ(refusal({"--ranks-per-gpu", "0"}).find("--ranks-per-gpu: "), 0);
  EXPECT_EQ(refusal({"--ranks-per-gpu", "5"}).find("--ranks-per-gpu: "), 0);
}

TEST(PlanCheckSelection, keeps_the_config_that_judges_the_others) {
  const auto list =
      configs({"sequential ctas=0 transport=ring", "sequential ctas=0 transport=symmetric",
               "chunked ctas=16 transport=ring chunks=4"});
  const Selection chunked{.strategy = strategy_of<Chunked>()};
  EXPECT_EQ(chunked.of(kProblem, list), (std::vector<Config>{list[0], list[2]}));
  const Selection sequential{.strategy = strategy_of<Sequential>()};
  EXPECT_EQ(sequential.of(kProblem, list), (std::vector<Config>{list[0], list[1]}));
  EXPECT_EQ(Selection{}.of(kProblem, list), list);
}

TEST(PlanCheckSelection, leaves_out_problems_without_a_config_that_is_asked_for) {
  const auto list = configs({"sequential ctas=0 transport=ring"});
  EXPECT_TRUE(Selection{.strategy = strategy_of<Waiting>()}.of(kProblem, list).empty());
  EXPECT_TRUE(Selection{.op = Op::all_gather_gemm}.of(kProblem, list).empty());
  EXPECT_EQ(Selection{.op = Op::gemm_all_reduce}.of(kProblem, list), list);
}

}  // namespace overlaptune::plan_check
