#include "cli/progress.hpp"

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

TEST(Progress, no_work_is_a_full_bar) {
  EXPECT_THAT(progress_line(0, 0, "", seconds(0), 0, 80), HasSubstr("[####################]"));
  EXPECT_THAT(progress_line(0, 9, "", seconds(0), 0, 80), HasSubstr("[--------------------]"));
}

}  // namespace
}  // namespace overlaptune::cli
