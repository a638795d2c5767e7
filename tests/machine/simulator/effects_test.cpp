// Every effect that the simulation claims to have can be seen: without it, some time moves by at
// least 2 %.

#include <cmath>

#include <gtest/gtest.h>

#include "machine/simulator/sim_machine.hpp"
#include "tests/machine/simulator/built_in.hpp"
#include "tests/machine/simulator/configs.hpp"
#include "tests/machine/simulator/without.hpp"

namespace overlaptune::sim {
namespace {

/// Takes an effect out of a profile; null: takes out none.
using Change = void (*)(Profile&);

Profile h200(Change change) {
  static const Profile whole =
      value_or_throw(parse_profile(test::built_in(test::kRings), "built in"));
  Profile profile = whole;
  if (change != nullptr) change(profile);
  return profile;
}

constexpr Tile kTile{128, 256, 64, 4, 2};
const Problem kSmall{.op = Op::gemm_all_reduce, .m = 1024, .n = 8192, .k = 1024, .ranks = 8};
const Problem kLarge{.op = Op::gemm_reduce_scatter, .m = 16384, .n = 8192, .k = 8192, .ranks = 8};

double time(Change change, const Problem& problem, const Config& config,
            Launch launch = Launch::graph) {
  SimMachine machine(h200(change), {.seed = 1});
  return test::time_us(test::run(machine, problem, config, {.launch = launch}));
}

/// The relative increase of the time by one effect: the time with all effects, compared with the
/// time without this one.
double weight(Change without, const Problem& problem, const Config& config,
              Launch launch = Launch::graph) {
  return time(nullptr, problem, config, launch) / time(without, problem, config, launch) - 1;
}

TEST(Effects, tile_spread) {
  // A single wave waits for the slowest of its tiles.
  const Problem wave{.op = Op::gemm_all_reduce, .m = 2048, .n = 2048, .k = 8192, .ranks = 8};
  EXPECT_GT(weight(test::without_tile_spread, wave, {}), 0.02);
}

TEST(Effects, launch) {
  EXPECT_GT(weight(test::without_launch, kSmall, {}), 0.02);
  EXPECT_GT(weight(test::without_launch, kSmall, test::chunked(4, 16), Launch::eager), 0.02);
}

TEST(Effects, trigger_and_signal) {
  const Problem tiny{.op = Op::gemm_reduce_scatter, .m = 512, .n = 2048, .k = 512, .ranks = 8};
  const Config config = test::signaled(tiny, {64, 128, 64, 6, 1}, 1, 132, 8, 1000);
  EXPECT_GT(weight(test::without_trigger, tiny, config), 0.02);
  EXPECT_GT(weight(test::without_signal, tiny, config), 0.02);
}

TEST(Effects, contention_on_the_gemm) {
  // GEMM and collective take equally long: each runs beside the other most of the time.
  const Config config = test::signaled(kLarge, kTile, 1, 132, 24, 1);
  EXPECT_GT(weight(test::without_gemm_contention, kLarge, config), 0.02);
}

TEST(Effects, contention_on_the_collective) {
  const Problem balanced{.op = Op::gemm_all_reduce, .m = 16384, .n = 8192, .k = 2048, .ranks = 8};
  const Config config = test::signaled(balanced, kTile, 8, 132, 16, 2);
  EXPECT_GT(weight(test::without_collective_contention, balanced, config), 0.02);
}

TEST(Effects, clock_loss) {
  EXPECT_GT(weight(test::without_clock_loss, kLarge, {}), 0.02);
}

// Clock loss explains why the parts of `sequential` take longer apart than together.
TEST(Effects, clock_recovers_while_the_collective_runs) {
  const auto apart_minus_together = [](Change change) {
    SimMachine machine(h200(change), {.seed = 1});
    const double gemm =
        value_or_throw(machine.measure(GemmProbe{.m = kLarge.m, .n = kLarge.n, .k = kLarge.k}))
            .time.median.count();
    const double collective =
        value_or_throw(machine.measure(CollectiveProbe{.collective = Collective::reduce_scatter,
                                                       .bytes = collective_bytes(kLarge),
                                                       .ranks = 8}))
            .time.median.count();
    const double together = test::time_us(test::run(machine, kLarge, {}));
    return (gemm + collective - together) / together;
  };
  EXPECT_GT(apart_minus_together(nullptr), 0.02);
  EXPECT_LT(std::abs(apart_minus_together(test::without_clock_loss)), 0.01);
}

}  // namespace
}  // namespace overlaptune::sim
