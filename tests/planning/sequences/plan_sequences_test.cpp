// Plans from values, by hand.

#include "planning/sequences/plan_sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// 1 us a token on one GPU; two GPUs exchange for half a microsecond a token. A GPU has 100 bytes,
/// and a token takes one.
Coefficients costs() {
  Coefficients made;
  made.linear_us = 1;
  made.bytes_of_token = 1;
  made.degrees = {{1, 0, 0}, {2, 0.5, 0}};
  return made;
}

BatchQuestion question(std::vector<std::int64_t> lengths) {
  return {.lengths = std::move(lengths), .gpus = {2, 2, 100}, .limits = {.pad = 1}};
}

std::string refusal(const BatchQuestion& asked) {
  const auto plan = plan_sequences(costs(), asked);
  return plan ? "" : plan.error().message;
}

TEST(PlanSequences, short_ones_run_side_by_side) {
  const auto plan = plan_sequences(costs(), question({60, 80}));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_DOUBLE_EQ(plan->time_us, 80);  // on two GPUs together: 70 + 70
  ASSERT_EQ(plan->micro_batches.size(), 1U);
  std::vector<std::size_t> members;
  for (const Group& group : plan->micro_batches[0].groups) {
    EXPECT_EQ(group.degree, 1);
    members.insert(members.end(), group.members.begin(), group.members.end());
  }
  EXPECT_THAT(members, UnorderedElementsAre(0, 1));
}

TEST(PlanSequences, what_one_gpu_cannot_hold_runs_on_two) {
  const auto plan = plan_sequences(costs(), question({200}));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_DOUBLE_EQ(plan->time_us, 200.0 / 2 + 200 * 0.5);
  ASSERT_EQ(plan->micro_batches.size(), 1U);
  ASSERT_EQ(plan->micro_batches[0].groups.size(), 1U);
  EXPECT_EQ(plan->micro_batches[0].groups[0].degree, 2);
  EXPECT_THAT(plan->micro_batches[0].groups[0].members, ElementsAre(0));
}

TEST(PlanSequences, questions_without_an_answer_are_refused) {
  EXPECT_THAT(refusal(question({})), HasSubstr("lengths: expected at least one"));
  EXPECT_THAT(refusal(question({8, 0})), HasSubstr("lengths[1] = 0"));
  EXPECT_THAT(refusal(question({201})), HasSubstr("expected at most 200 tokens"));
  BatchQuestion asked = question({8});
  asked.gpus.count = 3;
  EXPECT_THAT(refusal(asked), HasSubstr("3 GPUs: expected a power of two"));
  asked = question({8});
  asked.gpus.per_node = 0;
  EXPECT_THAT(refusal(asked), HasSubstr("nodes of 0"));
  asked = question({8});
  asked.gpus.memory_bytes = 0;
  EXPECT_THAT(refusal(asked), HasSubstr("the state of the model"));
  asked = question({8});
  asked.limits.most_degree = 4;
  EXPECT_THAT(refusal(asked), HasSubstr("most-degree 4"));
  asked = question({8});
  asked.limits.micro_batches = 2;
  EXPECT_THAT(refusal(asked), HasSubstr("a multiple of 2"));
}

/// An odd number of heads is not divided by two.
TEST(PlanSequences, heads_limit_the_degree) {
  BatchQuestion asked = question({100});
  asked.heads = 7;
  const auto plan = plan_sequences(costs(), asked);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_DOUBLE_EQ(plan->time_us, 100);
  asked.lengths = {101};
  EXPECT_THAT(refusal(asked), HasSubstr("on 1 GPUs"));
}

}  // namespace
}  // namespace overlaptune
