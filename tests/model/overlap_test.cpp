#include "model/overlap.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

struct SteppedGroup {
  double ready = 0;
  double start = 0;
  double end = 0;
};

/// The definition without any closed form: both queues in steps of time that are so small that
/// nothing changes within one. The producer is slowed while the consumer runs, and the consumer
/// while the producer runs. A consumer starts when the trigger of its next piece has passed, and
/// the gap after the piece before. A trigger is slowed as the producer is.
std::vector<SteppedGroup> stepped(double start, const std::vector<Piece>& pieces,
                                  const OverlapRates& rates, double step) {
  std::vector<SteppedGroup> groups(pieces.size());
  std::vector<double> trigger(pieces.size(), rates.trigger);  // what is left of it
  std::size_t produced = 0;
  std::size_t consumed = 0;
  double to_produce = pieces[0].production;
  double to_consume = 0;
  bool running = false;
  double gap = 0;  // what is left of it
  for (double now = start; consumed < pieces.size(); now += step) {
    if (!running && consumed < produced && trigger[consumed] <= 0 && gap <= 0) {
      running = true;
      to_consume = pieces[consumed].consumption;
      groups[consumed].start = now;
    }
    const bool producing = produced < pieces.size();
    const double producer_step = running && producing ? step / rates.producer_slowdown : step;
    for (std::size_t i = consumed; i < produced; ++i) trigger[i] -= producer_step;
    gap -= step;
    if (running) to_consume -= producing ? step / rates.consumer_slowdown : step;
    if (producing && (to_produce -= producer_step) <= 0) {
      groups[produced++].ready = now + step;
      if (produced < pieces.size()) to_produce += pieces[produced].production;
    }
    if (running && to_consume <= 0) {
      running = false;
      gap = rates.gap;
      groups[consumed++].end = now + step;
    }
  }
  return groups;
}

/// Rates of all kinds: the gap may be longer than the trigger or shorter, and both may be longer
/// than a piece; the queues may take longer beside each other than in turn.
OverlapRates random_rates(std::mt19937& random, double longest_wait) {
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  const bool mild = random() % 3 != 0;
  return {.producer_slowdown = uniform(1, mild ? 1.6 : 4),
          .consumer_slowdown = uniform(1, mild ? 1.6 : 3),
          .trigger = uniform(0, longest_wait),
          .gap = random() % 4 == 0 ? 0 : uniform(0, longest_wait)};
}

TEST(Overlap, agrees_with_small_steps) {
  std::mt19937 random(3);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  constexpr double kStep = 1.0 / 512;
  for (int round = 0; round < 300; ++round) {
    const OverlapRates rates = random_rates(random, uniform(1, 60));
    std::vector<Piece> pieces(1 + random() % 12);
    for (Piece& piece : pieces) piece = {uniform(5, 30), uniform(1, 50)};
    const double start = uniform(0, 5);
    const Timeline timeline = overlap(start, pieces, rates);
    const std::vector<SteppedGroup> groups = stepped(start, pieces, rates, kStep);
    // Each start and end is late by at most a step, and so is all that follows it.
    const double tolerance = 8 * kStep * static_cast<double>(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_NEAR(timeline.groups[i].ready.count(), groups[i].ready, tolerance) << round;
      ASSERT_NEAR(timeline.groups[i].start.count(), groups[i].start, tolerance) << round;
      ASSERT_NEAR(timeline.groups[i].end.count(), groups[i].end, tolerance) << round;
    }
    ASSERT_NEAR(timeline.gemm_end.count(), groups.back().ready, tolerance);
  }
}

TEST(Overlap, gaps_after_the_producers_end_are_whole) {
  // Three pieces of 10 are produced at 10, 20 and 30. The consumer runs the first from 12, and the
  // producer with it at half speed from there, so it ends at 48. By then 18 of 20 are consumed.
  const OverlapRates rates{.producer_slowdown = 2, .consumer_slowdown = 2, .trigger = 2, .gap = 5};
  const Timeline timeline = overlap(0, std::vector<Piece>{{10, 20}, {10, 20}, {10, 20}}, rates);
  EXPECT_DOUBLE_EQ(timeline.gemm_end.count(), 48);
  EXPECT_DOUBLE_EQ(timeline.groups[0].end.count(), 50);
  EXPECT_DOUBLE_EQ(timeline.groups[1].start.count(), 55);
  EXPECT_DOUBLE_EQ(timeline.groups[1].end.count(), 75);
  EXPECT_DOUBLE_EQ(timeline.groups[2].start.count(), 80);
  EXPECT_DOUBLE_EQ(timeline.groups[2].end.count(), 100);
}

TEST(Overlap, a_wait_does_not_slow_the_producer) {
  // Consumed from 11 to 13, and then from 15: the producer is slowed for 2 and for 3.
  const OverlapRates rates{.producer_slowdown = 1.5, .trigger = 1, .gap = 2};
  const Timeline timeline = overlap(0, std::vector<Piece>{{10, 2}, {1, 3}, {9, 1}}, rates);
  EXPECT_DOUBLE_EQ(timeline.groups[1].ready.count(), 11);
  EXPECT_DOUBLE_EQ(timeline.groups[1].start.count(), 15);
  EXPECT_DOUBLE_EQ(timeline.groups[2].ready.count(), 20 + (2 + 3) * (1 - 1 / 1.5));
}

TEST(Overlap, a_busy_consumer_pays_the_gap_between_pieces) {
  const OverlapRates rates{.gap = 3};
  const Timeline timeline = overlap(0, std::vector<Piece>{{10, 100}, {10, 100}}, rates);
  EXPECT_DOUBLE_EQ(timeline.groups[1].start.count(), 113);
  EXPECT_DOUBLE_EQ(timeline.groups[1].end.count(), 213);
}

TEST(Overlap, one_piece_is_one_after_the_other) {
  const OverlapRates rates{1.5, 1.5, 2, 1};
  const Timeline timeline = overlap(4, std::vector<Piece>{{100, 50}}, rates);
  EXPECT_DOUBLE_EQ(timeline.gemm_end.count(), 104);
  EXPECT_DOUBLE_EQ(timeline.groups[0].end.count(), 156);
  EXPECT_DOUBLE_EQ(timeline.groups[0].exposed.count(), 50);
}

TEST(Overlap, groups_follow_one_another_and_expose_what_outlasts_the_gemm) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<Piece> pieces(2 + random() % 10);
    for (Piece& piece : pieces) {
      piece = {std::uniform_real_distribution(5.0, 50.0)(random),
               std::uniform_real_distribution(1.0, 80.0)(random)};
    }
    const Timeline timeline = overlap(3, pieces, {1.2, 1.3, 1.5, 0.8});
    Microseconds exposed{};
    Microseconds last{};
    for (const GroupTimes& group : timeline.groups) {
      ASSERT_GE(group.start, group.ready);
      ASSERT_GE(group.start, last - us(1e-9));
      ASSERT_GE(group.end, group.start);
      last = group.end;
      exposed += group.exposed;
    }
    ASSERT_LE(exposed, last - timeline.gemm_end + us(1e-9));
  }
}

/// The partition search is exact because of this property.
TEST(Overlap, steps_keep_the_order_of_states) {
  std::mt19937 random(17);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  int harmful = 0;  // rates at which both take longer beside each other than in turn
  for (int round = 0; round < 100000; ++round) {
    OverlapRates rates = random_rates(random, 40);
    rates.gap = std::max(rates.gap, rates.trigger);
    const Handicap handicap(rates);
    if (1 / rates.producer_slowdown + 1 / rates.consumer_slowdown < 1) ++harmful;
    const OverlapState ahead{uniform(0, 200), uniform(0, 200)};
    OverlapState behind = ahead;
    if (random() % 3 != 0) behind.consumer_end += uniform(0, 50);
    if (random() % 3 != 0) behind.producer_end += uniform(0, 50);
    if (handicap(behind) < handicap(ahead)) continue;
    const double after = random() % 3 == 0 ? 0 : uniform(0, 60);
    const double group = uniform(0, 60);
    const OverlapState a = advance(ahead, after, group, rates).state;
    const OverlapState b = advance(behind, after, group, rates).state;
    ASSERT_LE(a.consumer_end, b.consumer_end + 1e-9);
    ASSERT_LE(handicap(a), handicap(b) + 1e-9);
  }
  EXPECT_GT(harmful, 1000);
}

}  // namespace
}  // namespace overlaptune
