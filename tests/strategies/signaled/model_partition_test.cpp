#include "strategies/signaled/model_partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "strategies/signaled/model_partition_bound.hpp"

namespace overlaptune {
namespace {

/// Random measurements and a random GEMM, with the cuts between.
struct RandomProblem {
  explicit RandomProblem(std::uint32_t seed, std::size_t cuts)
      : random(seed), curve(make_curve()), other(make_curve()) {
    const double wave = uniform(4, 60);
    const double bytes = std::pow(2.0, uniform(12, 26));
    points.push_back({});
    // SMs that leave have computed a part of the first group; the groups after it save that time.
    const double ahead = uniform(0, 0.15);
    for (std::size_t i = 1; i <= cuts; ++i) {
      produced.push_back(produced.back() + wave * uniform(0.8, 1.2));
      saved.push_back(ahead * produced.back() + wave * uniform(0, 0.3));
      points.push_back({.bytes = points.back().bytes + bytes * uniform(0.5, 1.5),
                        .contiguous = random() % 3 != 0});
    }
    points.back().contiguous = true;
    problem = {
        .start = uniform(0, 5),
        .cuts = points,
        .collective = &curve,
        .last = random() % 2 == 0 ? nullptr : &other,
        .least_last = random() % 3 == 0 ? uniform(0, 200) : 0,
        .shared = random() % 2 == 0 ? 0 : uniform(0, 0.9) * std::min(curve(0), other(0)),
        .first_more = random() % 2 == 0 ? 0 : uniform(0, 20),
        .reorder = {.start = random() % 2 == 0 ? 0 : uniform(0, 5),
                    .per_byte = random() % 2 == 0 ? 0 : uniform(0, random() % 2 == 0 ? 2e-6 : 5e-5),
                    .last_per_byte = random() % 2 == 0 ? 0 : uniform(0, 2e-6)},
        .rates = rates(wave),
        .produced = [this, ahead](std::size_t first, std::size_t cut) {
          const double alone = (1 - ahead) * produced[first];
          return cut == first ? alone : std::max(alone, produced[cut] - saved[first]);
        }};
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  }

  /// Waits are up to three waves. A gap may be a wait and more, or less than one.
  OverlapRates rates(double wave) {
    const bool mild = random() % 2 == 0;
    const double longest = random() % 2 == 0 ? 3 * wave : std::min(10.0, 0.5 * wave);
    OverlapRates made{uniform(1, mild ? 1.8 : 4), uniform(1, mild ? 1.8 : 3), uniform(0, longest),
                      uniform(0, longest)};
    if (random() % 2 == 0) made.gap = made.trigger + uniform(0.5, 3);
    return made;
  }

  Curve make_curve() {
    std::vector<CurvePoint> list;
    double time = 0.1 * std::pow(400.0, uniform(0, 1));
    for (int i = 0; i < 10; ++i) {
      list.push_back({std::pow(4.0, 6 + i), time * uniform(0.8, 1.2)});
      time *= i < 4 ? uniform(1.0, 1.5) : uniform(2.0, 5.0);  // superlinear in places
    }
    return Curve(list);
  }

  std::mt19937 random;
  Curve curve;
  Curve other;
  std::vector<CutPoint> points;
  std::vector<double> produced{0};
  std::vector<double> saved{0};
  PartitionProblem problem;
};

double time_of(const PartitionProblem& problem, const std::vector<std::size_t>& ends) {
  return overlap(problem.start, pieces(problem, ends), problem.rates).groups.back().end.count();
}

/// Every subset of the inner cuts.
double enumerated(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t subset = 0; subset < (1U << (last - 1)); ++subset) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i < last; ++i) {
      if ((subset >> (i - 1)) & 1U) ends.push_back(i);
    }
    ends.push_back(last);
    best = std::min(best, time_of(problem, ends));
  }
  return best;
}

TEST(Partition, is_the_best_of_all_partitions) {
  int missed = 0;
  for (std::uint32_t seed = 0; seed < 6000; ++seed) {
    const RandomProblem random(seed, 1 + seed % 11);
    const Partition best = best_partition(random.problem);
    const double least = enumerated(random.problem);
    ASSERT_NEAR(best.time, time_of(random.problem, best.ends), 1e-7);
    const OverlapRates& rates = random.problem.rates;
    const double allowed = std::max(0.0, rates.trigger - rates.gap);
    ASSERT_LE(best.time, least + allowed + 1e-7) << "seed " << seed;
    if (best.time > least + 1e-7) ++missed;
  }
  EXPECT_LT(missed, 6);
}

TEST(Partition, is_the_best_of_65536_partitions) {
  for (std::uint32_t seed = 1000; seed < 1008; ++seed) {
    const RandomProblem random(seed, 17);
    ASSERT_NEAR(best_partition(random.problem).time, enumerated(random.problem), 1e-7);
  }
}

double least_produced(const PartitionProblem& problem) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < problem.cuts.size(); ++i) {
    least = std::min(least, problem.produced(i, problem.cuts.size() - 1));
  }
  return least;
}

/// The part of a problem that is known before its cuts.
WholeProblem whole_of(const RandomProblem& random) {
  const PartitionProblem& problem = random.problem;
  WholeProblem whole{.start = problem.start,
                     .first = problem.produced(1, 1),
                     .produced = least_produced(problem),
                     .bytes = problem.cuts.back().bytes,
                     .collective = problem.collective,
                     .last = problem.last,
                     .least_last = problem.least_last,
                     .shared = problem.shared,
                     .first_more = problem.first_more,
                     .rates = problem.rates};
  whole.least = least_times(whole);
  return whole;
}

TEST(Partition, no_partition_beats_the_lower_bounds) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  int closer = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const RandomProblem random(seed, 1 + seed % 10);
    const WholeProblem whole = whole_of(random);
    const double least = enumerated(random.problem);
    const double bound = closer_bound(whole, kNever);
    ASSERT_LE(lower_bound(whole), bound) << "seed " << seed;
    ASSERT_LE(bound, least + 1e-7) << "seed " << seed;
    if (bound > lower_bound(whole) * 1.01) ++closer;
    // A bound that need not be closer than `enough` is about as close up to there.
    const double enough = random.problem.start + 0.9 * (least - random.problem.start);
    const double quick = closer_bound(whole, enough);
    ASSERT_LE(quick, least + 1e-7) << "seed " << seed;
    ASSERT_GE(quick, std::min(bound, enough) * (1 - 4e-3)) << "seed " << seed;
  }
  EXPECT_GT(closer, 100);
}

/// Pieces of 50 bytes are the fastest for each byte: two of them take 100 us, all at once 200 us.
const Curve& two_pieces() {
  static const Curve kCurve({{1, 5}, {50, 50}, {100, 200}});
  return kCurve;
}

WholeProblem by_two_pieces(double produced, OverlapRates rates) {
  WholeProblem whole{.start = 100,
                     .first = 10,
                     .produced = produced,
                     .bytes = 100,
                     .collective = &two_pieces(),
                     .rates = rates};
  whole.least = least_times(whole);
  return whole;
}

TEST(PartitionBound, collectives_follow_each_other_after_the_first_wave) {
  // The first wave is there at 110, and its trigger passes.
  EXPECT_NEAR(lower_bound(by_two_pieces(20, {.trigger = 2})), 110 + 2 + 100, 1e-9);
  // A gap of 10 us stands between the two pieces.
  EXPECT_NEAR(lower_bound(by_two_pieces(20, {.trigger = 20, .gap = 10})), 110 + 20 + 110, 1e-9);
  WholeProblem later = by_two_pieces(20, {.trigger = 2});
  later.first_more = 7;
  EXPECT_NEAR(lower_bound(later), 110 + 2 + 100 + 7, 1e-9);
}

TEST(PartitionBound, the_shortest_collective_follows_a_long_gemm) {
  // It ends at 600; the least group takes 5 us, of which a row may share 3.
  EXPECT_NEAR(lower_bound(by_two_pieces(500, {.trigger = 2})), 600 + 2 + 5, 1e-9);
  WholeProblem shared = by_two_pieces(500, {.trigger = 2});
  shared.shared = 3;
  shared.least = least_times(shared);
  EXPECT_NEAR(lower_bound(shared), 600 + 2 + 5 - 3, 1e-9);
  EXPECT_NEAR(closer_bound(shared, 1e9), 600 + 2 + 5 - 3, 1e-9);
  shared.least_last = 40;
  EXPECT_NEAR(closer_bound(shared, 1e9), 600 + 2 + 40, 1e-9);
}

TEST(PartitionBound, a_last_group_of_its_own_may_be_the_fastest) {
  const Curve fast({{1, 1}, {100, 60}});
  WholeProblem whole = by_two_pieces(20, {.trigger = 2});
  whole.last = &fast;
  const LeastTimes least = least_times(whole);
  EXPECT_NEAR(least.one, 1, 1e-9);
  EXPECT_NEAR(least.all, 60, 1e-9);
  EXPECT_NEAR(least.in_a_row, 60, 1e-9);
  // Groups before the last one take the curve of all.
  EXPECT_NEAR(least.per_byte, 1, 1e-9);
  EXPECT_NEAR(least.per_byte_in_a_row, 1, 1e-9);
}

TEST(Partition, a_limit_that_nothing_beats_gives_no_partition) {
  const RandomProblem random(5, 8);
  const double best = best_partition(random.problem).time;
  EXPECT_TRUE(best_partition(random.problem, best - 0.01).ends.empty());
  EXPECT_NEAR(best_partition(random.problem, best + 0.01).time, best, 1e-9);
}

}  // namespace
}  // namespace overlaptune
