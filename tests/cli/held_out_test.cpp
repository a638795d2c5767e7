// `evaluate --held-out`.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class HeldOut : public tool::Tuned {};

const std::string kMeasure = "evaluate --db f.db --machine sim:rtx4090-pcie-x4 --held-out ";

TEST_F(HeldOut, errors_are_those_of_the_points) {
  const json result =
      tool::json(*folder, kMeasure + "7 --tiles 2 --problem gemm_all_reduce:3k,4k,1k:bf16:4");
  std::vector<double> collectives;
  int gemms = 0;
  for (const json& point : result.at("points")) {
    const double measured = point.at("measured_us");
    const double error = 100 * std::abs(point.at("predicted_us").get<double>() / measured - 1);
    if (point.at("probe").get<std::string>().starts_with("gemm ")) {
      ++gemms;
    } else {
      collectives.push_back(error);
    }
  }
  EXPECT_EQ(result.at("left_out"), 0);
  EXPECT_EQ(gemms, 1 + 2);
  ASSERT_EQ(collectives.size(), 7U);
  std::sort(collectives.begin(), collectives.end());
  const json& summary = result.at("summary").at(0);
  EXPECT_EQ(summary.at("of"), "collectives");
  EXPECT_EQ(summary.at("count"), 7);
  EXPECT_NEAR(summary.at("median_percent"), collectives[3], 1e-6);
  EXPECT_NEAR(summary.at("max_percent"), collectives[6], 1e-6);
}

TEST_F(HeldOut, without_collectives_only_gemms_are_measured) {
  const json result = tool::json(*folder, kMeasure + "0 --problem gemm_all_reduce:3k,4k,1k:bf16:4");
  ASSERT_EQ(result.at("points").size(), 1U);
  EXPECT_THAT(result.at("points").at(0).at("probe").get<std::string>(),
              HasSubstr("3072x4096x1024"));
}

TEST_F(HeldOut, its_flags_need_it) {
  for (const std::string flags :
       {"--tiles 2", "--problem gemm_all_reduce:3k,4k,1k:bf16:4", "--problems f.csv"}) {
    const tool::Outcome outcome = tool::run(*folder, "evaluate --db f.db " + flags);
    EXPECT_EQ(outcome.status, 2) << flags;
    EXPECT_THAT(outcome.err, HasSubstr("--held-out")) << flags;
  }
  const tool::Outcome stored = tool::run(*folder, kMeasure + "1 --platform sim:rtx4090-pcie-x4");
  EXPECT_EQ(stored.status, 2);
  EXPECT_THAT(stored.err, HasSubstr("--platform: not beside"));
}

}  // namespace
}  // namespace overlaptune
