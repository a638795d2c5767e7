#include "tuner/prepare.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuner/counting_machine.hpp"

namespace overlaptune {
namespace {

/// Problems of sizes that no probe plan has.
const Problem kUneven{Op::gemm_reduce_scatter, 1544, 2056, 1160, Elements::bf16, 8};

struct PrepareTest : testing::Test {
  [[nodiscard]] Expected<void> probe(const Progress& progress) {
    RunMonitor monitor(progress);
    monitor.limit(options.budget);
    auto probed = probe_missing(machine, store, run, std::vector{kUneven}, options, monitor);
    stopped = monitor.stopped();
    return probed;
  }
  /// The probes at the problem's own size, as lines.
  [[nodiscard]] std::set<std::string> own_size() const {
    std::set<std::string> found;
    for (const Measurement& each : store.measurements(run.platform)) {
      const auto* gemm = std::get_if<GemmProbe>(&each.probe);
      if (gemm == nullptr || gemm->m != kUneven.m) continue;
      EXPECT_EQ(gemm->n, kUneven.n);
      EXPECT_EQ(gemm->k, kUneven.k);
      found.insert(to_string(each.probe));
    }
    return found;
  }

  TemporaryFolder folder{};
  Store store{folder / "prepared.db", Access::create};
  CountingMachine machine{};
  PlatformId platform = store.add_platform(machine.platform());
  TuningRun run{.id = store.begin_tuning_run(platform, "test", {}), .platform = platform};
  TuneOptions options{.probes = ProbeDepth::quick};
  Progress carry_on = [](std::size_t, std::size_t, std::string_view) { return true; };
  std::size_t plan =
      probe_plan(machine.platform(), machine.transports(), std::vector{8}, ProbeDepth::quick)
          .size();
  bool stopped = false;
};

TEST_F(PrepareTest, each_round_probes_six_tiles_at_the_size_of_a_problem) {
  options.layer_rounds = 0;
  ASSERT_TRUE(probe(carry_on));
  EXPECT_EQ(machine.probes, static_cast<int>(plan));
  EXPECT_TRUE(own_size().empty());
  options.layer_rounds = 1;
  ASSERT_TRUE(probe(carry_on));
  EXPECT_EQ(own_size().size(), 6U);
  EXPECT_EQ(machine.probes, static_cast<int>(plan) + 6);  // the plan was there
  const auto first = own_size();
  options.layer_rounds = 2;
  ASSERT_TRUE(probe(carry_on));
  const auto second = own_size();
  EXPECT_GT(second.size(), 6U);
  EXPECT_LE(second.size(), 12U);
  EXPECT_TRUE(std::includes(second.begin(), second.end(), first.begin(), first.end()));
  EXPECT_FALSE(stopped);
}

TEST_F(PrepareTest, each_round_shows_how_many_problems_are_done) {
  std::vector<std::pair<std::size_t, std::size_t>> shown;
  const Progress progress = [&](std::size_t done, std::size_t total, std::string_view what) {
    if (what == "choosing GEMMs to probe" && (shown.empty() || shown.back().first != done)) {
      shown.emplace_back(done, total);
    }
    return true;
  };
  options.layer_rounds = 2;
  Problem larger = kUneven;
  larger.m *= 2;
  RunMonitor monitor(progress);
  ASSERT_TRUE(probe_missing(machine, store, run, std::vector{kUneven, larger}, options, monitor));
  using Shown = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(shown, (Shown{{0, 2}, {1, 2}, {0, 2}, {1, 2}}));
}

TEST_F(PrepareTest, a_run_that_has_candidates_had_its_rounds) {
  store.add_candidate(run.id, {.problem = kUneven, .predicted = us(1)});
  ASSERT_TRUE(probe(carry_on));
  EXPECT_EQ(machine.probes, static_cast<int>(plan));
  EXPECT_TRUE(own_size().empty());
}

TEST_F(PrepareTest, a_run_that_was_stopped_in_a_round_asks_for_the_same_probes) {
  ASSERT_TRUE(probe([&](std::size_t, std::size_t, std::string_view) {
    return machine.probes < static_cast<int>(plan) + 2;
  }));
  EXPECT_TRUE(stopped);
  const auto before = own_size();
  EXPECT_EQ(before.size(), 2U);
  ASSERT_TRUE(probe(carry_on));
  EXPECT_FALSE(stopped);

  CountingMachine undisturbed;
  Store other(folder / "undisturbed.db", Access::create);
  const TuningRun whole{
      .id = other.begin_tuning_run(other.add_platform(undisturbed.platform()), "", {}),
      .platform = other.add_platform(undisturbed.platform())};
  RunMonitor monitor(carry_on);
  ASSERT_TRUE(probe_missing(undisturbed, other, whole, std::vector{kUneven}, options, monitor));
  std::set<std::string> expected;
  for (const Measurement& each : other.measurements(whole.platform)) {
    expected.insert(to_string(each.probe));
  }
  std::set<std::string> found;
  for (const Measurement& each : store.measurements(platform)) found.insert(to_string(each.probe));
  EXPECT_EQ(found, expected);
  EXPECT_EQ(machine.probes, undisturbed.probes);
}

TEST_F(PrepareTest, the_budget_counts_the_plan_too) {
  options.budget = std::chrono::duration<double>(0);
  ASSERT_TRUE(probe(carry_on));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(machine.probes, 0);
}

}  // namespace
}  // namespace overlaptune
