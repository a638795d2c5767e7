// Every effect that the simulation claims to have can be seen: switched off, some time moves by at
// least 2 %.

#include <cmath>

#include <gtest/gtest.h>

#include "machine/simulator/sim_machine.hpp"
#include "tests/machine/simulator/built_in.hpp"
#include "tests/machine/simulator/configs.hpp"

namespace overlaptune::sim {
namespace {

const Profile& h200() {
  static const Profile profile =
      value_or_throw(parse_profile(test::built_in(test::kRings), "built in"));
  return profile;
}

constexpr Tile kTile{128, 256, 64, 4, 2};
const Problem kSmall{.op = Op::gemm_all_reduce, .m = 1024, .n = 8192, .k = 1024, .ranks = 8};
const Problem kLarge{.op = Op::gemm_reduce_scatter, .m = 16384, .n = 8192, .k = 8192, .ranks = 8};

double time(const Effects& effects, const Problem& problem, const Config& config,
            Launch launch = Launch::graph) {
  SimMachine machine(h200(), {.seed = 1, .effects = effects});
  return test::time_us(test::run(machine, problem, config, {.launch = launch}));
}

/// The relative increase of the time by one effect: the time with all effects, compared with the
/// time without this one.
double weight(bool Effects::*effect, const Problem& problem, const Config& config,
              Launch launch = Launch::graph) {
  Effects without;
  without.*effect = false;
  return time({}, problem, config, launch) / time(without, problem, config, launch) - 1;
}

TEST(Effects, tile_spread) {
  // A single wave waits for the slowest of its tiles.
  const Problem wave{.op = Op::gemm_all_reduce, .m = 2048, .n = 2048, .k = 8192, .ranks = 8};
  EXPECT_GT(weight(&Effects::tile_spread, wave, {}), 0.02);
}

TEST(Effects, launch) {
  EXPECT_GT(weight(&Effects::launch, kSmall, {}), 0.02);
  EXPECT_GT(weight(&Effects::launch, kSmall, test::chunked(4, 16), Launch::eager), 0.02);
}

TEST(Effects, trigger_and_signal) {
  const Problem tiny{.op = Op::gemm_reduce_scatter, .m = 512, .n = 2048, .k = 512, .ranks = 8};
  const Config config = test::signaled(tiny, {64, 128, 64, 6, 1}, 1, 132, 8, 1000);
  EXPECT_GT(weight(&Effects::trigger, tiny, config), 0.02);
  EXPECT_GT(weight(&Effects::signal, tiny, config), 0.02);
}

TEST(Effects, contention_on_the_gemm) {
  // GEMM and collective take equally long: each runs beside the other most of the time.
  const Config config = test::signaled(kLarge, kTile, 1, 132, 24, 1);
  EXPECT_GT(weight(&Effects::gemm_contention, kLarge, config), 0.02);
}

TEST(Effects, contention_on_the_collective) {
  const Problem balanced{.op = Op::gemm_all_reduce, .m = 16384, .n = 8192, .k = 2048, .ranks = 8};
  const Config config = test::signaled(balanced, kTile, 8, 132, 16, 2);
  EXPECT_GT(weight(&Effects::collective_contention, balanced, config), 0.02);
}

TEST(Effects, clock_loss) {
  EXPECT_GT(weight(&Effects::clock_loss, kLarge, {}), 0.02);
}

// Clock loss explains why the parts of `sequential` take longer apart than together.
TEST(Effects, clock_recovers_while_the_collective_runs) {
  const auto apart_minus_together = [](const Effects& effects) {
    SimMachine machine(h200(), {.seed = 1, .effects = effects});
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
  EXPECT_GT(apart_minus_together({}), 0.02);
  EXPECT_LT(std::abs(apart_minus_together({.clock_loss = false})), 0.01);
}

}  // namespace
}  // namespace overlaptune::sim
