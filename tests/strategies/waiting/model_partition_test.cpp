// Wave groups for a GEMM that waits for rows, beside a simulation and every other partition.

#include "strategies/waiting/model_partition.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// Arrivals and a GEMM whose work is proportional to the bytes. Some points must be ends.
ArrivalProblem random_problem(std::mt19937& random, std::size_t points) {
  const auto dice = [&](int sides) { return static_cast<double>(1 + random() % unsigned(sides)); };
  ArrivalProblem problem{.gap = dice(5), .slowdown = 1 + 0.05 * dice(8)};
  const double per_byte = dice(20) / 10;
  const double own = dice(50);
  std::vector<double> bytes{0};
  for (std::size_t i = 0; i < points; ++i) bytes.push_back(bytes.back() + dice(30));
  problem.whole = own + bytes.back();
  for (std::size_t i = 0; i <= points; ++i) {
    problem.points.push_back({.arrives = i == 0 ? 0 : 7 + bytes[i] * per_byte,
                              .rest = bytes.back() - bytes[i],
                              .must_end = i == 0 || i == points || random() % 5 == 0});
  }
  return problem;
}

/// The GEMM in small steps: it works at full rate once everything has arrived, slowed before that,
/// and only on what is there.
double simulated(const ArrivalProblem& problem, const std::vector<std::size_t>& ends) {
  std::vector<double> arrived;
  std::vector<double> work{problem.whole - problem.points.front().rest};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    arrived.push_back(problem.points[ends[i]].arrives + static_cast<double>(i) * problem.gap);
    work.push_back(problem.whole - problem.points[ends[i]].rest);
  }
  double done = 0;
  double now = 0;
  constexpr double kStep = 1e-3;
  while (done < problem.whole - 1e-9) {
    double there = work.front();
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      if (arrived[i] <= now) there = work[i + 1];
    }
    const double rate = now < arrived.back() ? 1 / problem.slowdown : 1;
    done = std::min(there, done + kStep * rate);
    now += kStep;
  }
  return now;
}

TEST(WaitingTime, is_that_of_a_simulation) {
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    const std::size_t points = 1 + random() % 8;
    const ArrivalProblem problem = random_problem(random, points);
    std::vector<std::size_t> ends;
    for (std::size_t at = 1; at <= points; ++at) {
      if (problem.points[at].must_end || random() % 2 == 0) ends.push_back(at);
    }
    EXPECT_NEAR(waiting_time(problem, ends), simulated(problem, ends),
                0.02 + 1e-3 * static_cast<double>(points));
  }
}

TEST(BestArrivals, are_the_best_of_all_partitions) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::size_t points = 1 + random() % 9;
    const ArrivalProblem problem = random_problem(random, points);
    double least = std::numeric_limits<double>::infinity();
    for (unsigned chosen = 0; chosen < 1U << points; ++chosen) {
      std::vector<std::size_t> ends;
      bool allowed = true;
      for (std::size_t at = 1; at <= points; ++at) {
        if ((chosen >> (at - 1) & 1) != 0) {
          ends.push_back(at);
        } else {
          allowed = allowed && !problem.points[at].must_end;
        }
      }
      if (allowed) least = std::min(least, waiting_time(problem, ends));
    }
    const ArrivalPartition best = best_arrivals(problem, 64);
    EXPECT_NEAR(best.time, least, 1e-9);
    EXPECT_NEAR(waiting_time(problem, best.ends), best.time, 1e-9);
    // With a limit, it is found where it is faster, and nothing else is.
    EXPECT_EQ(best_arrivals(problem, 64, least * 1.0001).ends, best.ends);
    EXPECT_TRUE(best_arrivals(problem, 64, least * 0.9999).ends.empty());
    const auto fewest = std::count_if(problem.points.begin() + 1, problem.points.end(),
                                      [](const ArrivalPoint& point) { return point.must_end; });
    EXPECT_LE(least_waiting_time(problem, static_cast<std::size_t>(fewest)), least + 1e-9);
  }
}

TEST(BestArrivals, small_last_groups_where_the_copies_are_slow) {
  // All the work of the last group comes after the last arrival, so the last group is small; more
  // groups cost gaps, so the first ones are large.
  ArrivalProblem problem{.whole = 120, .gap = 1, .slowdown = 1};
  for (int i = 0; i <= 20; ++i) {
    problem.points.push_back(
        {.arrives = i == 0 ? 0 : 10.0 * i, .rest = 100 - 5.0 * i, .must_end = i == 0 || i == 20});
  }
  const ArrivalPartition best = best_arrivals(problem, 64);
  ASSERT_GE(best.ends.size(), 2U);
  EXPECT_EQ(best.ends[best.ends.size() - 2], 19U);
  EXPECT_GT(best.ends.front(), 1U);
  EXPECT_EQ(best_arrivals(problem, 1).ends, (std::vector<std::size_t>{20}));
}

}  // namespace
}  // namespace overlaptune
