#include "tuner/tuning_run.hpp"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

const Problem kSmall{Op::gemm_all_reduce, 1024, 2048, 1024, Elements::bf16, 8};
const Problem kOtherProblem{Op::all_gather_gemm, 1024, 2048, 1024, Elements::bf16, 8};

struct TuningRunTest : testing::Test {
  TemporaryFolder folder{};
  Store store{folder / "runs.db", Access::create};
  PlatformId platform = store.add_platform({.name = "scripted", .gpu_count = 8});
};

TEST_F(TuningRunTest, the_last_run_is_continued_only_if_that_is_asked_for) {
  const std::vector<Problem> problems{kSmall, kOtherProblem};
  TuneOptions options;
  options.resume = true;
  const auto first = open_run(store, platform, problems, options);
  ASSERT_TRUE(first);
  const auto continued = open_run(store, platform, problems, options);
  ASSERT_TRUE(continued);
  EXPECT_EQ(continued->id, first->id);
  EXPECT_EQ(continued->platform, platform);
  options.resume = false;
  const auto anew = open_run(store, platform, problems, options);
  ASSERT_TRUE(anew);
  EXPECT_NE(anew->id, first->id);
  EXPECT_EQ(anew->platform, platform);
  EXPECT_EQ(store.info().tuning_runs, 2);
}

TEST_F(TuningRunTest, a_run_of_another_platform_is_not_continued) {
  TuneOptions options;
  options.resume = true;
  const std::vector<Problem> problems{kSmall};
  const auto first = open_run(store, platform, problems, options);
  const PlatformId other = store.add_platform({.name = "another", .gpu_count = 4});
  const auto second = open_run(store, other, problems, options);
  ASSERT_TRUE(first && second);
  EXPECT_NE(second->id, first->id);
}

TEST_F(TuningRunTest, whatever_changes_the_candidates_is_another_request) {
  const std::vector<Problem> problems{kSmall, kOtherProblem};
  std::set<std::string> requests{request_of(problems, {})};
  const std::vector<std::function<void(TuneOptions&)>> changes{
      [](TuneOptions& options) { ++options.top_k; },
      [](TuneOptions& options) { ++options.explore; },
      [](TuneOptions& options) { ++options.provenance.seed; },
      [](TuneOptions& options) { options.launches = {Launch::eager}; },
      [](TuneOptions& options) {
        options.launches = {Launch::graph, Launch::eager};
      }};
  for (const auto& change : changes) {
    TuneOptions options;
    change(options);
    EXPECT_TRUE(requests.insert(request_of(problems, options)).second);
  }
  EXPECT_TRUE(requests.insert(request_of(std::vector{kSmall}, {})).second);
  EXPECT_TRUE(requests.insert(request_of(std::vector{kSmall, kSmall}, {})).second);
  TuneOptions options;
  options.budget = std::chrono::hours(1);
  options.resume = true;
  EXPECT_FALSE(requests.insert(request_of(problems, options)).second);
}

}  // namespace
}  // namespace overlaptune
