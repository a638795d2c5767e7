#include "reports/trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tests/core/activities.hpp"

namespace overlaptune {
namespace {

using activities::activity;
using activities::random_activities;

TEST(ChromeTrace, holds_every_activity_once) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const auto activities = random_activities(random, 3, 60);
    const auto trace = OrderedJson::parse(chrome_trace(activities, "a \"title\""));
    EXPECT_EQ(trace.at("otherData").at("title"), "a \"title\"");
    std::map<std::pair<int, int>, std::string> threads;
    std::map<int, std::string> processes;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") != "M") continue;
      const std::string what = event.at("name");
      if (what == "thread_name")
        threads[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
      if (what == "process_name") processes[event.at("pid")] = event.at("args").at("name");
    }
    std::vector<Activity> read;
    std::map<std::pair<int, int>, double> ends;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") != "X") continue;
      const std::pair<int, int> thread(event.at("pid"), event.at("tid"));
      const double start = event.at("ts");
      const double end = start + event.at("dur").get<double>();
      EXPECT_GE(start, ends[thread]) << "overlaps within a thread";
      ends[thread] = end;
      EXPECT_EQ(processes.at(thread.first), "GPU " + std::to_string(thread.first));
      ASSERT_EQ(threads.at(thread).rfind("stream ", 0), 0U);
      read.push_back(
          {.rank = thread.first,
           .stream = std::stoi(threads.at(thread).substr(7)),
           .kind = value_or_throw(parse_name<ActivityKind>(event.at("cat").get<std::string>())),
           .name = event.at("name"),
           .start = us(start),
           .end = us(end)});
    }
    EXPECT_TRUE(
        std::is_permutation(read.begin(), read.end(), activities.begin(), activities.end()));
  }
}

TEST(ChromeTrace, unsound_activities_are_left_out) {
  using enum ActivityKind;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  const std::vector<Activity> unsound{activity(0, gemm, 5, 4), activity(1, gemm, nan, 4),
                                      activity(2, collective, 5, endless)};
  EXPECT_TRUE(OrderedJson::parse(chrome_trace(unsound, "")).at("traceEvents").empty());
}

TEST(ChromeTrace, any_name_is_valid_json) {
  Activity odd = activity(0, ActivityKind::gemm, 0, 1);
  odd.name = "void k<\"\\>(\n\xff\xc3)";
  EXPECT_EQ(OrderedJson::parse(chrome_trace({odd}, "\xff")).at("traceEvents").size(), 5U);
}

TEST(BusyTimes, as_json) {
  const BusyTimes times{
      .gemm = us(10), .collective = us(8), .both = us(4), .exposed = us(4), .total = us(20)};
  EXPECT_EQ(json_of(times).at("exposed_us"), 4);
  EXPECT_EQ(json_of(times).at("overlap_fraction"), 0.5);
  EXPECT_TRUE(json_of(BusyTimes{}).at("overlap_fraction").is_null());
}

}  // namespace
}  // namespace overlaptune
