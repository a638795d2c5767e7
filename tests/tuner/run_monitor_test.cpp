#include "tuner/run_monitor.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// Keeps the steps that it is shown, and stops the run at step `last`.
struct Shown {
  using Step = std::tuple<std::size_t, std::size_t, std::string>;
  std::vector<Step> steps{};
  std::size_t last = 1000;
  Progress progress = [this](std::size_t done, std::size_t total, std::string_view what) {
    steps.emplace_back(done, total, what);
    return steps.size() < last;
  };
};

TEST(RunMonitor, shows_the_steps_of_each_stage) {
  Shown shown;
  RunMonitor monitor(shown.progress);
  monitor.begin_stage(2);
  EXPECT_FALSE(monitor.must_stop("a"));
  monitor.step_done();
  EXPECT_FALSE(monitor.must_stop("b"));
  monitor.begin_stage(5);
  EXPECT_FALSE(monitor.must_stop("c"));
  EXPECT_FALSE(monitor.must_stop(7, 9, "d"));
  monitor.end_stage("e");
  EXPECT_FALSE(monitor.stopped());
  EXPECT_EQ(shown.steps, (std::vector<Shown::Step>{
                             {0, 2, "a"}, {1, 2, "b"}, {0, 5, "c"}, {7, 9, "d"}, {5, 5, "e"}}));
}

TEST(RunMonitor, a_progress_that_said_stop_is_not_asked_again) {
  Shown shown;
  shown.last = 2;
  RunMonitor monitor(shown.progress);
  EXPECT_FALSE(monitor.must_stop("a"));
  EXPECT_TRUE(monitor.must_stop(0, 1, "b"));
  EXPECT_TRUE(monitor.stopped());
  EXPECT_TRUE(monitor.must_stop("c"));
  EXPECT_TRUE(monitor.must_stop(0, 1, "d"));
  EXPECT_EQ(shown.steps.size(), 2U);
}

TEST(RunMonitor, a_spent_budget_stops_before_progress_is_asked) {
  Shown shown;
  RunMonitor monitor(shown.progress);
  monitor.limit(std::chrono::duration<double>(0));
  EXPECT_FALSE(monitor.stopped());  // nobody has looked
  EXPECT_TRUE(monitor.must_stop("a"));
  EXPECT_TRUE(monitor.stopped());
  EXPECT_TRUE(monitor.must_stop(0, 1, "b"));
  EXPECT_TRUE(shown.steps.empty());
}

TEST(RunMonitor, a_budget_that_is_not_spent_stops_nothing) {
  Shown shown;
  RunMonitor monitor(shown.progress);
  monitor.limit(std::chrono::hours(1));
  EXPECT_FALSE(monitor.must_stop("a"));
  monitor.limit(std::nullopt);
  EXPECT_FALSE(monitor.must_stop("b"));
}

}  // namespace
}  // namespace overlaptune
