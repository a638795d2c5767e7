// Groups of a GEMM that stores its tiles at their owners, beside a simulation of single tiles and
// every other partition.

#include "strategies/peer_store/model_partition.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "strategies/peer_store/sim_run.hpp"

namespace overlaptune {
namespace {

/// A problem whose groups may end at every cut, each of them a multiple of `ranks` tiles.
StoreProblem random_problem(std::mt19937& random, std::size_t cuts) {
  const auto dice = [&](int sides) { return static_cast<int>(1 + random() % unsigned(sides)); };
  StoreProblem problem{.ranks = 1 + dice(7), .sms = 4 * dice(8)};
  problem.tile_time = 10;
  problem.per_launch = dice(5);
  problem.spread = 0.02 * dice(20);
  const double wave = problem.tile_time / problem.sms;  // of the links, where they are the limit
  problem.sent = wave * dice(30) / 10;
  problem.signal = dice(6);
  const int op = dice(3);
  problem.waits = op != 1;
  problem.receive = problem.waits ? dice(4) - 1 : 0;
  if (op == 2) problem.sum_sent = problem.sent * (problem.ranks - 1);
  problem.ping_pong = random() % 2 == 0;
  problem.held = dice(4) / 4.0;
  problem.own_later = random() % 2 == 0;
  if (problem.waits && !problem.ping_pong) problem.add_up = dice(10) / 5.0;
  problem.cuts = {0};
  for (std::size_t i = 0; i < cuts; ++i) {
    problem.cuts.push_back(problem.cuts.back() +
                           problem.ranks * (1 + static_cast<std::int64_t>(random() % 40)));
  }
  return problem;
}

/// The ends of the partition with this number.
std::vector<std::size_t> ends_of(unsigned number, std::size_t cuts) {
  std::vector<std::size_t> ends;
  for (std::size_t cut = 1; cut < cuts; ++cut) {
    if ((number >> (cut - 1) & 1) != 0) ends.push_back(cut);
  }
  ends.push_back(cuts);
  return ends;
}

TEST(BestStores, are_the_best_of_all_partitions) {
  std::mt19937 random(2);
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  int cut_up = 0;
  for (int i = 0; i < 400; ++i) {
    const std::size_t cuts = 1 + random() % 9;
    const StoreProblem problem = random_problem(random, cuts);
    double least = kAnyTime;
    for (unsigned number = 0; number < 1U << (cuts - 1); ++number) {
      least = std::min(least, store_time(problem, ends_of(number, cuts)));
    }
    const StorePartition best = best_stores(problem, kAnyTime);
    ASSERT_FALSE(best.ends.empty());
    EXPECT_NEAR(best.time, least, 1e-9);
    EXPECT_NEAR(store_time(problem, best.ends), best.time, 1e-9);
    EXPECT_GE(least, problem.least_time() - 1e-9);
    cut_up += best.ends.size() > 1 ? 1 : 0;
    // With a limit, it is found where it is faster, and nothing else is.
    EXPECT_NEAR(best_stores(problem, least * 1.0001).time, least, 1e-9);
    EXPECT_TRUE(best_stores(problem, least * 0.9999).ends.empty());
    const StorePartition equal = best_equal_stores(problem, kAnyTime);
    EXPECT_NEAR(store_time(problem, equal.ends), equal.time, 1e-9);
    EXPECT_GE(equal.time, least - 1e-9);
  }
  EXPECT_GT(cut_up, 100);
}

TEST(StoreStates, that_are_ahead_stay_ahead) {
  std::mt19937 random(3);
  const auto up_to = [&](double most) {
    return most * static_cast<double>(random() % 1000) / 1000;
  };
  for (int i = 0; i < 20'000; ++i) {
    const StoreProblem problem = random_problem(random, 4);
    const auto later = [&](double most) { return up_to(most) * static_cast<double>(random() % 2); };
    const StoreState ahead{.delay = up_to(30), .link = up_to(200), .arrived = up_to(200)};
    const StoreState behind{.delay = ahead.delay + later(20),
                            .link = ahead.link + later(50),
                            .arrived = ahead.arrived + later(50)};
    const StoreStep first = advance(problem, ahead, {1, 2, 3});
    const StoreStep second = advance(problem, behind, {1, 2, 3});
    ASSERT_LE(first.state.delay, second.state.delay + 1e-9);
    ASSERT_LE(first.state.link, second.state.link + 1e-9);
    ASSERT_LE(first.state.arrived, second.state.arrived + 1e-9);
    const auto end_after = [&](const StoreStep& step) {
      return end_of(problem, finish(problem, advance(problem, step.state, {2, 3, 4}), 3));
    };
    ASSERT_LE(end_after(first), end_after(second) + 1e-9);
  }
}

/// The simulated time of the GEMM with its tiles one by one: a row of tiles for each rank, or one
/// for all.
double simulated(const StoreProblem& problem, const std::vector<std::int64_t>& groups) {
  const bool sums = problem.sum_sent > 0;
  const std::int64_t rows = sums ? 128 : 128 * problem.ranks;
  const std::int64_t columns = problem.tiles() / (sums ? 1 : problem.ranks);
  const Problem gemm{.op = sums            ? Op::gemm_all_reduce
                           : problem.waits ? Op::gemm_reduce_scatter
                                           : Op::gemm_all_to_all,
                     .m = rows,
                     .n = 128 * columns,
                     .k = 64,
                     .ranks = problem.ranks};
  const TileOrder tiles = tile_order(gemm, {128, 128, 64, 4, 1}, 1);
  sim::StorePlan plan{.order = store_order(gemm, tiles, value_or_throw(group_cuts(tiles, groups))),
                      .times = {.whole = problem.tile_time,
                                .right = problem.tile_time,
                                .bottom = problem.tile_time,
                                .corner = problem.tile_time,
                                .kernel_start = problem.per_launch},
                      .sms = problem.sms,
                      .adds_up = problem.waits,
                      .spreads = sums,
                      .ping_pong = problem.ping_pong,
                      .held = problem.held,
                      .signal = problem.signal,
                      .receive = problem.receive,
                      .add_up = problem.add_up};
  plan.order.own_later = problem.own_later;
  plan.link_rate = static_cast<double>(slot_bytes(plan.order)) / problem.sent;
  const auto run = sim::run_stores(plan, {.noise = sim::Noise(1)});
  return *std::max_element(run.rank_ends.begin(), run.rank_ends.end());
}

struct Errors {
  double mean = 0;
  double largest = 0;
};

/// Errors of the times of random partitions, if staging buffers hold all of a tile, or a part of
/// it.
Errors errors_of_store_time(bool hold_all) {
  std::mt19937 random(4);
  Errors errors;
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds; ++i) {
    const std::size_t cuts = 1 + random() % 12;
    StoreProblem problem = random_problem(random, cuts);
    if (hold_all) problem.held = 1;
    problem.spread = 1e-9;  // tiles of equal time do not drift apart
    std::vector<std::int64_t> groups;
    std::vector<std::size_t> ends;
    for (std::size_t cut = 1; cut <= cuts; ++cut) {
      groups.push_back(problem.cuts[cut] - problem.cuts[cut - 1]);
      ends.push_back(cut);
    }
    const double time = store_time(problem, ends);
    const double error = std::abs(time / simulated(problem, groups) - 1);
    errors.mean += error / kRounds;
    errors.largest = std::max(errors.largest, error);
  }
  return errors;
}

TEST(StoreTime, is_near_that_of_tiles_that_are_run_one_by_one) {
  const Errors errors = errors_of_store_time(true);
  EXPECT_LT(errors.mean, 0.02);
  EXPECT_LT(errors.largest, 0.2);
}

// The model lets the tiles of a wave leave together, the simulator one after the other.
TEST(StoreTime, knows_that_consumers_wait_for_small_staging_buffers) {
  const Errors errors = errors_of_store_time(false);
  EXPECT_LT(errors.mean, 0.04);
  EXPECT_LT(errors.largest, 0.35);
}

/// The links are the limit, and each group's sums have to wait for the peers' tiles.
TEST(StoreTime, links_carry_the_next_group_until_the_sums_are_there) {
  StoreProblem problem{.ranks = 8,
                       .sms = 16,
                       .tile_time = 10,
                       .sent = 0.5,
                       .sum_sent = 3.5,
                       .add_up = 4,
                       .signal = 4,
                       .waits = true,
                       .ping_pong = true,
                       .cuts = {0}};
  problem.spread = 1e-9;
  std::vector<std::int64_t> groups;
  std::vector<std::size_t> ends;
  for (std::size_t cut = 1; cut <= 12; ++cut) {
    groups.push_back(32);
    problem.cuts.push_back(problem.cuts.back() + groups.back());
    ends.push_back(cut);
  }
  const double time = store_time(problem, ends);
  EXPECT_NEAR(time / simulated(problem, groups), 1, 0.03);
  // All that waits, waits once: at the end.
  EXPECT_LT(time,
            problem.produced(16) + problem.all_sent() + 3 * (problem.signal + problem.add_up));
}

TEST(BestStores, are_small_groups_where_the_links_are_the_limit) {
  // Two ranks with 8 SMs; the links need 1.9 times as long as the tiles of a wave. In one group
  // they would idle while the own tiles are computed.
  StoreProblem problem{.ranks = 2, .sms = 8, .tile_time = 10, .sent = 1.9 * 10 / 8, .cuts = {0}};
  for (int wave = 1; wave <= 64; ++wave) problem.cuts.push_back(8 * wave);
  const double links = 256 * problem.sent;
  const double one_group = store_time(problem, std::vector<std::size_t>{64});
  EXPECT_GT(one_group, links + 0.9 * 320);
  const StorePartition best = best_stores(problem, 1e9);
  EXPECT_LT(best.time, links + 40);
  EXPECT_GT(best.ends.size(), 8U);
}

TEST(BestStores, of_equal_size_are_of_one_wave_where_cuts_lie_before_the_ends_of_waves) {
  // Cuts as with columns of 16 tiles on 132 SMs: each wave is cut after its last whole column.
  StoreProblem problem{.ranks = 2, .sms = 132, .tile_time = 10, .cuts = {0}};
  for (int wave = 1; wave <= 40; ++wave) problem.cuts.push_back(132 * wave / 16 * 16);
  problem.sent = 0.95 * problem.tile_time / 66;  // the links need nearly as long as the tiles
  problem.held = 0.25;                           // many tiles of one wave hold up its consumers
  problem.ping_pong = true;
  const StorePartition equal = best_equal_stores(problem, 1e9);
  EXPECT_EQ(equal.ends.size(), 40U);
}

TEST(BestStores, end_with_a_small_group_where_sums_go_out) {
  // The sums of the last group go out when nothing is left to compute.
  StoreProblem problem{.ranks = 4,
                       .sms = 8,
                       .tile_time = 10,
                       .sent = 0.5,
                       .sum_sent = 1.5,
                       .signal = 3,
                       .waits = true,
                       .ping_pong = true,
                       .cuts = {0}};
  for (int wave = 1; wave <= 32; ++wave) problem.cuts.push_back(8 * wave);
  const StorePartition best = best_stores(problem, 1e9);
  const double one_group = store_time(problem, std::vector<std::size_t>{32});
  EXPECT_LT(best.time, one_group - 10);
  ASSERT_GT(best.ends.size(), 1U);
  EXPECT_GE(best.ends[best.ends.size() - 2], 24U);
}

}  // namespace
}  // namespace overlaptune
