#include "model/overlap.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// The same two queues, stepped from event to event: the definition without any closed form.
double stepped_end(double start, const std::vector<Piece>& pieces, const OverlapRates& rates) {
  double now = start;
  std::size_t producing = 0;
  double to_produce = pieces[0].production;
  std::vector<double> ready(pieces.size(), -1);
  std::size_t consuming = 0;
  bool running = false;
  double to_consume = 0;
  double consumer_free = -1e300;
  while (consuming < pieces.size()) {
    const bool producer_on = producing < pieces.size();
    double may_start = 1e300;
    if (!running && ready[consuming] >= 0) {
      may_start = std::max(ready[consuming] + rates.trigger, consumer_free + rates.gap);
      if (may_start <= now) {
        running = true;
        to_consume = pieces[consuming].consumption;
      }
    }
    // Between two pieces of a busy consumer the producer stays slowed.
    const bool busy = running || (consuming > 0 && ready[consuming] >= 0 &&
                                  ready[consuming] + rates.trigger <= consumer_free + rates.gap &&
                                  now >= consumer_free);
    const double producer_rate = busy ? 1 / rates.producer_slowdown : 1;
    const double consumer_rate = producer_on ? 1 / rates.consumer_slowdown : 1;
    double step = 1e300;
    if (producer_on) step = std::min(step, to_produce / producer_rate);
    if (running) step = std::min(step, to_consume / consumer_rate);
    if (!running && may_start < 1e299) step = std::min(step, std::max(may_start - now, 0.0));
    now += step;
    if (producer_on) {
      to_produce -= step * producer_rate;
      if (to_produce <= 1e-9) {
        ready[producing++] = now;
        if (producing < pieces.size()) to_produce = pieces[producing].production;
      }
    }
    if (running) {
      to_consume -= step * consumer_rate;
      if (to_consume <= 1e-9) {
        running = false;
        consumer_free = now;
        ++consuming;
      }
    }
  }
  return now;
}

TEST(Overlap, agrees_with_stepping_through_events) {
  std::mt19937 random(3);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const OverlapRates rates{.producer_slowdown = uniform(1, 1.6),
                             .consumer_slowdown = uniform(1, 1.6),
                             .trigger = uniform(0, 2),
                             .gap = 0};
    std::vector<Piece> pieces(1 + random() % 12);
    for (Piece& piece : pieces) piece = {uniform(5, 50), uniform(1, 80)};
    const double start = uniform(0, 5);
    const Timeline timeline = overlap(start, pieces, rates);
    ASSERT_NEAR(timeline.groups.back().end.count(), stepped_end(start, pieces, rates), 1e-6);
  }
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
TEST(Overlap, steps_are_monotone_in_the_state) {
  std::mt19937 random(17);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random);
  };
  for (int round = 0; round < 100000; ++round) {
    const OverlapRates rates{uniform(1, 4), uniform(1, 3), uniform(0, 5), uniform(0, 5)};
    const OverlapState behind{uniform(0, 100), uniform(0, 200)};
    const OverlapState ahead{behind.producer - uniform(0, 50),
                             behind.consumer_end - uniform(0, 50)};
    const double work = uniform(0, 60);
    const double group = uniform(0, 60);
    const OverlapState a = advance(ahead, work, group, rates).state;
    const OverlapState b = advance(behind, work, group, rates).state;
    ASSERT_LE(a.producer, b.producer + 1e-9);
    ASSERT_LE(a.consumer_end, b.consumer_end + 1e-9);
    ASSERT_LE(finish(ahead, work, group, rates).state.consumer_end,
              finish(behind, work, group, rates).state.consumer_end + 1e-9);
  }
}

}  // namespace
}  // namespace overlaptune
