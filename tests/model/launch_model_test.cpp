// Costs of launches, each told apart from the others by its value.

#include "model/launch_model.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

Measurement launched(LaunchCost cost, double time) {
  return {.probe = LaunchProbe{cost}, .time = {.median = us(time)}};
}

/// Cost number i takes i + 1 us, in the order of `LaunchCost`.
std::vector<Measurement> all_costs() {
  std::vector<Measurement> list;
  for (const auto& [cost, name] : NamesOf<LaunchCost>::all) {
    list.push_back(launched(cost, 1.0 + static_cast<int>(cost)));
  }
  return list;
}

std::vector<Measurement> without(LaunchCost missing) {
  std::vector<Measurement> list = all_costs();
  std::erase_if(list, [&](const Measurement& each) {
    return std::get<LaunchProbe>(each.probe).cost == missing;
  });
  return list;
}

TEST(LaunchModel, each_cost_has_its_place) {
  const LaunchModel model = value_or_throw(LaunchModel::fit(all_costs()));
  EXPECT_EQ(model.replay, 1);
  EXPECT_EQ(model.kernel_gap, 2);
  EXPECT_EQ(model.eager_submit, 3);
  EXPECT_EQ(model.eager_first, 4);
  EXPECT_EQ(model.trigger, 5);
  EXPECT_DOUBLE_EQ(model.reorder_per_byte, 6e-6);
  EXPECT_EQ(model.driver_trigger, 7);
  EXPECT_EQ(model.kernel_trigger, 8);
  // 9 us for 10^6 bytes on 8 SMs.
  EXPECT_DOUBLE_EQ(model.reorder_per_byte_and_sm.value(), 72e-6);
  EXPECT_EQ(model.start(Launch::graph), 1);
  EXPECT_EQ(model.start(Launch::eager), 4);
}

TEST(LaunchModel, what_was_not_probed_is_absent_or_an_error) {
  for (const LaunchCost cost :
       {LaunchCost::graph_replay, LaunchCost::graph_kernel, LaunchCost::eager_submit,
        LaunchCost::eager_first, LaunchCost::signal_trigger, LaunchCost::reorder_per_mb}) {
    const auto model = LaunchModel::fit(without(cost));
    ASSERT_FALSE(model) << to_string(cost);
    EXPECT_THAT(model.error().message, HasSubstr("'" + std::string(to_string(cost)) + "'"));
  }
  EXPECT_FALSE(
      value_or_throw(LaunchModel::fit(without(LaunchCost::driver_trigger))).driver_trigger);
  EXPECT_FALSE(
      value_or_throw(LaunchModel::fit(without(LaunchCost::kernel_trigger))).kernel_trigger);
  EXPECT_FALSE(value_or_throw(LaunchModel::fit(without(LaunchCost::reorder_on_few_sms_per_mb)))
                   .reorder_per_byte_and_sm);
}

TEST(LaunchModel, a_kernel_waits_where_it_is_much_faster_than_the_driver) {
  LaunchModel model{.trigger = 5, .driver_trigger = 10, .kernel_trigger = 8.9};
  EXPECT_EQ(model.wait(Launch::graph), Wait::kernel);
  EXPECT_EQ(model.wait(Launch::eager), Wait::driver);
  EXPECT_EQ(model.trigger_of(Wait::kernel, Launch::graph), 8.9);
  EXPECT_EQ(model.trigger_of(Wait::driver, Launch::graph), 10);
  EXPECT_EQ(model.trigger_of(Wait::kernel, Launch::eager), 5);
  model.kernel_trigger = 9.1;
  EXPECT_EQ(model.wait(Launch::graph), Wait::driver);
  model.driver_trigger.reset();
  EXPECT_EQ(model.wait(Launch::graph), Wait::driver);
  EXPECT_EQ(model.trigger_of(Wait::driver, Launch::graph), 5);
}

TEST(LaunchModel, few_sms_copy_slowly_and_many_no_faster_than_all) {
  LaunchModel model{.reorder_per_byte = 2, .reorder_per_byte_and_sm = 24};
  EXPECT_EQ(model.reorder_beside(4), 6);
  EXPECT_EQ(model.reorder_beside(16), 2);
  EXPECT_EQ(model.reorder_beside(0), 2);
  model.reorder_per_byte_and_sm.reset();
  EXPECT_EQ(model.reorder_beside(4), 2);
}

}  // namespace
}  // namespace overlaptune
