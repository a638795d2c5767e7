#include "cli/output/progress.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::cli {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(Progress, time_left_from_the_speed_so_far) {
  // 30 of 120 in 10 s: 90 more take 30 s.
  EXPECT_THAT(progress_line(30, 120, "gemm", seconds(10), 0, 80),
              HasSubstr("30/120 30s left  gemm"));
  // 20 of these were there at the start, so 10 took 10 s.
  EXPECT_THAT(progress_line(30, 120, "gemm", seconds(10), 20, 80), HasSubstr("1m30s left"));
  EXPECT_THAT(progress_line(1, 7201, "gemm", seconds(1), 0, 80), HasSubstr("2h00m left"));
  EXPECT_THAT(progress_line(20, 120, "gemm", seconds(10), 20, 80), HasSubstr("? left"));
}

TEST(Progress, fits_the_terminal) {
  for (const std::size_t columns : {10U, 40U, 80U}) {
    EXPECT_LT(progress_line(5, 9, std::string(200, 'x'), seconds(1), 0, columns).size(), columns);
  }
}

/// Progress in a pipe, with a clock that the test sets.
class PipedProgress : public testing::Test {
 protected:
  ProgressPlace place() {
    return {.terminal = false,
            .now = [this] { return std::chrono::steady_clock::time_point(time_); },
            .tell = [this](const std::string& line) { lines_.push_back(line); }};
  }
  seconds time_{1000};
  std::vector<std::string> lines_;
};

TEST_F(PipedProgress, a_line_each_ten_seconds) {
  ProgressBar bar(place());
  const Progress progress = bar.callback();
  for (std::size_t second = 0; second < 36; ++second) {
    EXPECT_TRUE(progress(second, 40, "gemm"));
    time_ += seconds(1);
  }
  // One step a second: after 10 s, 30 more are to be made.
  EXPECT_THAT(lines_, testing::ElementsAre("10/40 30s left  gemm", "20/40 20s left  gemm",
                                           "30/40 10s left  gemm"));
}

TEST_F(PipedProgress, short_work_and_many_phases_are_not_told_more_often) {
  {
    ProgressBar bar(place());
    const Progress progress = bar.callback();
    for (std::size_t total = 1; total < 10; ++total) {
      EXPECT_TRUE(progress(0, total, "a phase of its own"));
      time_ += seconds(1);
    }
    EXPECT_THAT(lines_, testing::IsEmpty());
    time_ += seconds(60);  // one long step
    EXPECT_TRUE(progress(1, 9, "slow"));
    EXPECT_TRUE(progress(2, 9, "fast"));
  }
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_.front(), HasSubstr("1/9 "));
}

TEST_F(PipedProgress, a_long_step_does_not_make_the_time_left_rise) {
  ProgressBar bar(place());
  const Progress progress = bar.callback();
  for (std::size_t second = 0; second <= 10; ++second) {
    EXPECT_TRUE(progress(second, 40, "gemm"));
    time_ += seconds(1);
  }
  for (int minute = 0; minute < 2; ++minute) {
    time_ += seconds(60);
    EXPECT_TRUE(progress(10, 40, "slow"));
  }
  EXPECT_THAT(lines_, testing::ElementsAre("10/40 30s left  gemm", "10/40 30s left  slow",
                                           "10/40 30s left  slow"));
}

TEST(Progress, no_work_is_a_full_bar) {
  EXPECT_THAT(progress_line(0, 0, "", seconds(0), 0, 80), HasSubstr("[####################]"));
  EXPECT_THAT(progress_line(0, 9, "", seconds(0), 0, 80), HasSubstr("[--------------------]"));
}

}  // namespace
}  // namespace overlaptune::cli
