#include "machine/controller/fault_attribution.hpp"

#include <gtest/gtest.h>

#include "machine/controller/limits.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

Loss loss_at(int rank, const std::vector<std::optional<int>>& configs) {
  Loss loss{.rank = rank};
  for (const auto& config : configs) {
    loss.steps.push_back(config ? std::optional<RunStep>({*config, "check"}) : std::nullopt);
  }
  return loss;
}

TEST(FaultAttribution, the_config_of_most_ranks) {
  EXPECT_EQ(config_at_fault(loss_at(0, {1, 2, 2, 2}), 3), 2U);
  EXPECT_EQ(config_at_fault(loss_at(3, {0, std::nullopt, 0, 1}), 3), 0U);
}

TEST(FaultAttribution, of_two_with_as_many_ranks_the_one_of_the_lost_rank) {
  EXPECT_EQ(config_at_fault(loss_at(0, {1, 2}), 3), 1U);
  EXPECT_EQ(config_at_fault(loss_at(1, {1, 2}), 3), 2U);
}

TEST(FaultAttribution, none_where_no_config_is_named) {
  EXPECT_EQ(config_at_fault(loss_at(0, {std::nullopt, std::nullopt}), 3), std::nullopt);
  EXPECT_EQ(config_at_fault(loss_at(0, {-1, -1, 0}), 3), std::nullopt);
  EXPECT_EQ(config_at_fault(loss_at(0, {7, 7}), 3), std::nullopt);
  EXPECT_EQ(config_at_fault(Loss{.rank = 4}, 3), std::nullopt);
}

TEST(FaultAttribution, verdicts) {
  EXPECT_EQ(verdict_of({.how = Loss::How::hung}), Verdict::timeout);
  EXPECT_EQ(verdict_of({.how = Loss::How::failed}), Verdict::crashed);
  EXPECT_EQ(verdict_of({.how = Loss::How::died}), Verdict::crashed);
  EXPECT_EQ(verdict_of({.how = Loss::How::killed}), Verdict::rank_died);
}

TEST(Limits, follow_what_is_expected) {
  const std::vector<Microseconds> expected{us(1000), us(3000)};
  const auto limit = [&](const RunStep& step) { return limit_after(&step, {}, expected, 9); };
  EXPECT_EQ(limit({0, "check"}), 10s);
  EXPECT_EQ(limit({1, "prepare"}), 26s);
  EXPECT_EQ(limit({-1, "prepare"}), 28s);
  EXPECT_EQ(limit({1, "time"}), 12200ms);  // 5 s + 200 * 9 * 4 ms
}

TEST(Limits, are_two_minutes_where_nothing_is_known) {
  const RunStep step{0, "check"};
  EXPECT_EQ(limit_after(nullptr, {}, {us(1000)}, 9), 120s);
  EXPECT_EQ(limit_after(&step, {}, {}, 9), 120s);
  EXPECT_EQ(limit_after(&step, {}, {us(0)}, 9), 120s);
  EXPECT_EQ(limit_after(&step, {}, {us(std::numeric_limits<double>::infinity())}, 9), 120s);
  EXPECT_EQ(limit_after(&step, {}, {us(1e300)}, 9), 1h);
}

}  // namespace
}  // namespace overlaptune::cuda
