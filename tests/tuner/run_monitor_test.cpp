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

TEST(RunMonitor, parts_share_what_is_left_of_the_budget) {
  using std::chrono::seconds;
  Shown shown;
  RunMonitor::Clock::time_point now{};
  RunMonitor monitor(shown.progress, [&] { return now; });
  monitor.begin_share(3);
  EXPECT_FALSE(monitor.share_spent());  // there is no budget
  monitor.limit(seconds(100));
  now += seconds(10);
  monitor.begin_share(3);  // 30 s each
  now += seconds(29);
  EXPECT_FALSE(monitor.share_spent());
  now += seconds(1);
  EXPECT_TRUE(monitor.share_spent());
  now += seconds(10);      // it took 10 s too long
  monitor.begin_share(2);  // 25 s each
  now += seconds(5);       // and the next one is done early
  monitor.begin_share(1);  // 45 s
  now += seconds(44);
  EXPECT_FALSE(monitor.share_spent());
  now += seconds(1);
  EXPECT_TRUE(monitor.share_spent());
  EXPECT_FALSE(monitor.must_stop("at the limit"));
  now += seconds(1);
  EXPECT_TRUE(monitor.must_stop("behind it"));
}

}  // namespace
}  // namespace overlaptune
