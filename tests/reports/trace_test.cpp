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

std::vector<TracedRun> only(const std::vector<Activity>& activities) {
  return {{.name = "signaled", .activities = activities}};
}

/// The events of a phase ("X": activities, "i": marks) of one process.
std::vector<OrderedJson> events(const OrderedJson& trace, const std::string& phase, int process) {
  std::vector<OrderedJson> list;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase && event.at("pid") == process) list.push_back(event);
  }
  return list;
}

TEST(ChromeTrace, holds_every_activity_once) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const auto activities = random_activities(random, 3, 60);
    const auto trace = OrderedJson::parse(chrome_trace(only(activities), "a \"title\""));
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
  EXPECT_TRUE(OrderedJson::parse(chrome_trace(only(unsound), "")).at("traceEvents").empty());
}

constexpr Problem kProblem{.op = Op::gemm_all_reduce, .m = 256, .n = 128, .k = 64, .ranks = 4};

TEST(ChromeTrace, says_what_groups_hold_and_when_they_are_ready) {
  const Config config = value_or_throw(parse_config(
      "signaled tile=128x128x64 stages=4 cluster=1 swizzle=1 ctas=8 transport=ring groups=1,1"));
  const Timeline timeline{
      .gemm_end = us(20),
      .groups = {{0, us(10), us(11), us(18), us(0)}, {1, us(20), us(21), us(29), us(8)}}};
  const std::vector<TracedRun> runs{
      traced_run(kProblem, config, timeline),
      traced_run(kProblem, Config{},
                 {.gemm_end = us(15), .groups = {{0, us(15), us(16), us(40)}}})};
  const auto trace = OrderedJson::parse(chrome_trace(runs, ""));
  std::vector<OrderedJson> sent;
  for (const auto& event : events(trace, "X", 0)) {
    if (event.at("cat") == "collective") sent.push_back(event.at("args"));
  }
  // Each group is one tile of 128 x 128 elements of 2 bytes.
  ASSERT_EQ(sent.size(), 2U);
  for (const int group : {0, 1}) {
    EXPECT_EQ(sent[static_cast<std::size_t>(group)],
              OrderedJson({{"group", group}, {"bytes", 32768}, {"tiles", 1}, {"ctas", 8}}));
  }
  const auto marks = events(trace, "i", 0);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].at("ts"), 10);
  EXPECT_EQ(marks[1].at("ts"), 20);
  EXPECT_EQ(marks[1].at("args").at("bytes"), 32768);
  // `sequential` beside it, as another process.
  const auto beside = events(trace, "X", kMostRanks);
  ASSERT_EQ(beside.size(), 2U);
  EXPECT_EQ(beside[1].at("args").at("bytes"), 65536);
  std::vector<std::string> names;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") names.push_back(event.at("args").at("name"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"GPU 0: signaled", "GPU 0: sequential"}));
}

TEST(ChromeTrace, one_collective_for_all_groups_has_their_sum) {
  using enum ActivityKind;
  const std::vector<TracedRun> runs{
      {.activities = {activity(0, gemm, 0, 9), activity(0, collective, 1, 9),
                      activity(1, collective, 1, 4), activity(1, collective, 4, 7),
                      activity(1, collective, 7, 9)},
       .sizes = {{.bytes = {100}, .tiles = 3, .ctas = 8}, {.bytes = {50}, .tiles = 2, .ctas = 8}}}};
  const auto trace = OrderedJson::parse(chrome_trace(runs, ""));
  for (const auto& event : events(trace, "X", 0)) {
    if (event.at("cat") == "collective") {
      EXPECT_EQ(event.at("args"),
                OrderedJson({{"groups", 2}, {"bytes", 150}, {"tiles", 5}, {"ctas", 8}}));
    }
  }
  // Three collectives of two groups: which is which is not known.
  for (const auto& event : events(trace, "X", 1)) EXPECT_FALSE(event.contains("args"));
}

TEST(ChromeTrace, any_name_is_valid_json) {
  Activity odd = activity(0, ActivityKind::gemm, 0, 1);
  odd.name = "void k<\"\\>(\n\xff\xc3)";
  EXPECT_EQ(OrderedJson::parse(chrome_trace(only({odd}), "\xff")).at("traceEvents").size(), 5U);
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
