#include "reports/trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Activity activity(int rank, ActivityKind kind, double start, double end, int stream = 0) {
  return {.rank = rank,
          .stream = stream,
          .kind = kind,
          .name = std::string(to_string(kind)),
          .start = us(start),
          .end = us(end)};
}

/// Whole microseconds, so that looking at the middle of each tells all.
std::vector<Activity> random_activities(std::mt19937& random, int ranks, int latest) {
  std::vector<Activity> activities;
  std::uniform_int_distribution<int> count(0, 30);
  for (int i = count(random); i > 0; --i) {
    const auto kind = NamesOf<ActivityKind>::all[random() % 5].value;
    const int start = static_cast<int>(random() % static_cast<unsigned>(latest));
    const int end = start + static_cast<int>(random() % 20);
    activities.push_back(activity(static_cast<int>(random() % static_cast<unsigned>(ranks)), kind,
                                  start, end, static_cast<int>(random() % 3)));
  }
  return activities;
}

/// By looking at every microsecond.
BusyTimes sampled(const std::vector<Activity>& activities, int rank, int latest) {
  BusyTimes times;
  double first = 1e9;
  double last = -1e9;
  for (const Activity& seen : activities) {
    if (seen.rank != rank) continue;
    first = std::min(first, seen.start.count());
    last = std::max(last, seen.end.count());
  }
  times.total = us(last - first);
  for (int i = 0; i < latest; ++i) {
    bool gemm = false;
    bool collective = false;
    for (const Activity& seen : activities) {
      if (seen.rank != rank || seen.start.count() > i + 0.5 || seen.end.count() < i + 0.5) continue;
      gemm = gemm || seen.kind == ActivityKind::gemm;
      collective = collective || seen.kind == ActivityKind::collective;
    }
    times.gemm += us(gemm ? 1 : 0);
    times.collective += us(collective ? 1 : 0);
    times.both += us(gemm && collective ? 1 : 0);
    times.exposed += us(collective && !gemm ? 1 : 0);
  }
  return times;
}

TEST(Busy, agrees_with_looking_at_every_microsecond) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    constexpr int kRanks = 3;
    const auto activities = random_activities(random, kRanks, 100);
    const Busy result = busy(activities);
    std::size_t found = 0;
    BusyTimes sum;
    for (int rank = 0; rank < kRanks; ++rank) {
      const bool active = std::any_of(activities.begin(), activities.end(),
                                      [&](const Activity& seen) { return seen.rank == rank; });
      if (!active) continue;
      ASSERT_LT(found, result.ranks.size());
      const RankBusy& of_rank = result.ranks[found++];
      const BusyTimes expected = sampled(activities, rank, 130);
      EXPECT_EQ(of_rank.rank, rank);
      EXPECT_EQ(of_rank.times, expected);
      sum.gemm += expected.gemm;
      sum.exposed += expected.exposed;
    }
    ASSERT_EQ(found, result.ranks.size());
    if (found == 0) continue;
    EXPECT_NEAR(result.mean.gemm.count(), sum.gemm.count() / static_cast<double>(found), 1e-9);
    EXPECT_NEAR(result.mean.exposed.count(), sum.exposed.count() / static_cast<double>(found),
                1e-9);
  }
}

TEST(Busy, overlap_fraction_by_hand) {
  using enum ActivityKind;
  const Busy result = busy({activity(0, gemm, 0, 10), activity(0, collective, 6, 14, 1),
                            activity(0, collective, 7, 9, 2), activity(0, other, 14, 20)});
  const BusyTimes expected{
      .gemm = us(10), .collective = us(8), .both = us(4), .exposed = us(4), .total = us(20)};
  EXPECT_EQ(result.mean, expected);
  EXPECT_EQ(overlap_fraction(result.mean), 0.5);
  EXPECT_EQ(overlap_fraction(busy({activity(0, gemm, 0, 10)}).mean), std::nullopt);
  EXPECT_EQ(json_of(expected).at("overlap_fraction"), 0.5);
  EXPECT_TRUE(json_of(BusyTimes{}).at("overlap_fraction").is_null());
}

TEST(Busy, unsound_activities_count_for_nothing) {
  using enum ActivityKind;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  const std::vector<Activity> unsound{activity(0, gemm, 5, 4), activity(1, gemm, nan, 4),
                                      activity(2, collective, 5, endless)};
  EXPECT_TRUE(busy(unsound).ranks.empty());
  EXPECT_TRUE(OrderedJson::parse(chrome_trace(unsound, "")).at("traceEvents").empty());
  EXPECT_TRUE(busy({}).ranks.empty());
  EXPECT_EQ(busy({}).mean, BusyTimes{});
}

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

TEST(ChromeTrace, any_name_is_valid_json) {
  Activity odd = activity(0, ActivityKind::gemm, 0, 1);
  odd.name = "void k<\"\\>(\n\xff\xc3)";
  EXPECT_EQ(OrderedJson::parse(chrome_trace({odd}, "\xff")).at("traceEvents").size(), 5U);
}

}  // namespace
}  // namespace overlaptune
