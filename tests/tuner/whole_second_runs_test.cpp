// Second runs of whole tuning runs.

#include <functional>
#include <numeric>
#include <utility>

#include <gmock/gmock.h>

#include "model/learned_model.hpp"
#include "tests/tuner/captured_log.hpp"
#include "tests/tuner/whole_run.hpp"
#include "tuner/tuning_run.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using SecondRunsTest = TunerTest;

TEST_F(SecondRunsTest, a_second_run_that_tells_nothing_costs_the_overlap_fraction_only) {
  const std::vector<std::pair<std::function<void(Expected<std::vector<RunResult>>&)>, std::string>>
      failures{
          {[](auto& results) {
             results =
                 tl::make_unexpected(Error{ErrorKind::machine_unavailable, "the machine is lost"});
           },
           "could not be run once more: the machine is lost"},
          {[](auto& results) { results->back().verdict = Verdict::timeout; }, ""},
          {[](auto& results) {
             change_candidates(results, [](RunResult& result) {
               result.activities = {{.kind = ActivityKind::other, .start = us(0), .end = us(100)}};
             });
           },
           ""}};
  for (const auto& [failure, said] : failures) {
    CountingMachine machine;
    machine.after_trace = failure;
    Store store(file(), Access::write);
    const CapturedLog log;
    const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
    ASSERT_TRUE(report) << report.error().message;
    const Winner& winner = report->winners.at(0);
    EXPECT_NE(strategy_of(winner.candidate.config), strategy_of<Sequential>());
    EXPECT_FALSE(winner.overlap_fraction);
    const auto stored = store.winner(store.platforms().front().id, kTunedProblem, Launch::graph);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->winner, winner);
    if (said.empty()) continue;
    EXPECT_EQ(log.count(said), 1) << log.text();
  }
}

TEST_F(SecondRunsTest, what_fails_in_its_second_run_does_not_win) {
  CountingMachine machine;
  machine.after_second_run = [](auto& results) {
    change_candidates(results, [](RunResult& result) {
      result = {.verdict = Verdict::wrong, .reason = "off by one"};
    });
  };
  Store store(file(), Access::write);
  const CapturedLog log;
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 1U);
  EXPECT_EQ(strategy_of(report->winners[0].candidate.config), strategy_of<Sequential>());
  EXPECT_GT(log.count("when it was run once more (steady) wrong: off by one"), 1) << log.text();
}

TEST_F(SecondRunsTest, what_is_slower_than_sequential_in_its_second_run_does_not_win) {
  CountingMachine machine;
  int left = 2;
  machine.after_trace = [&](auto& results) {
    if (left-- > 0) change_candidates(results, [](RunResult& each) { scale(each, 3); });
  };
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(machine.traces.size(), 3U);
  ASSERT_EQ(report->winners.size(), 1U);
  const Winner& winner = report->winners[0];
  EXPECT_THAT(machine.traces[2].configs, testing::Contains(winner.candidate.config));
  for (const std::size_t earlier : {0, 1}) {
    const auto& tried = machine.traces[earlier].configs;
    for (const auto& later : {machine.traces[2].configs, machine.traces[1].configs}) {
      if (later == tried) continue;
      EXPECT_EQ(std::find_first_of(tried.begin() + 1, tried.end(), later.begin() + 1, later.end()),
                tried.end());
    }
  }
  const auto stored = store.winner(store.platforms().front().id, kTunedProblem, Launch::graph);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->winner, winner);
}

TEST_F(SecondRunsTest, where_nothing_stays_faster_sequential_wins) {
  CountingMachine machine;
  machine.after_trace = [](auto& results) {
    change_candidates(results, [](RunResult& each) { scale(each, 3); });
  };
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 1U);
  EXPECT_EQ(strategy_of(report->winners[0].candidate.config), strategy_of<Sequential>());
  EXPECT_FALSE(report->winners[0].overlap_fraction);
}

/// In second runs, all kernels that a first tuning run measured are slow, which the model does not
/// know.
TEST_F(SecondRunsTest, where_all_that_was_measured_is_out_other_kernels_are_tried) {
  const TuneOptions few{.top_k = 20, .explore = 0};
  std::vector<Candidate> first;
  {
    CountingMachine machine;
    Store store(file(), Access::write);
    const auto report = tune(machine, store, std::vector{kTunedProblem}, few, go_on);
    ASSERT_TRUE(report) << report.error().message;
    first = store.candidates(report->run, kTunedProblem, Launch::graph);
  }
  ASSERT_LT(first.size(), 20U);
  const auto is_of_first = [&](const Config& config) {
    return std::any_of(first.begin() + 1, first.end(),
                       [&](const Candidate& each) { return same_kernels(each.config, config); });
  };
  SetUp();
  CountingMachine machine;
  machine.after_trace = [&](Expected<std::vector<RunResult>>& results) {
    const std::vector<Config>& configs = machine.traces.back().configs;
    for (std::size_t i = 1; i < configs.size(); ++i) {
      if (is_of_first(configs[i])) scale((*results)[i], 3);
    }
  };
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kTunedProblem}, few, go_on);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(store.candidates(report->run, kTunedProblem, Launch::graph).size(), first.size());
  const Config& winner = report->winners.at(0).candidate.config;
  EXPECT_NE(strategy_of(winner), strategy_of<Sequential>());
  EXPECT_FALSE(is_of_first(winner)) << to_string(winner);
  EXPECT_TRUE(store.check().empty());
}

/// With one phase of 24 repetitions, a second run of the winner alone is 96 timed executions.
TEST_F(SecondRunsTest, second_runs_in_phases_take_half_as_long_again_at_most) {
  CountingMachine machine;
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(store.phase_results(report->run).size(), 9U);  // as many as it can have at once
  EXPECT_LE(machine.timed + machine.timed_again, 1.5 * (machine.timed + 24 * 4));
}

/// The machine takes twice as long for some configs when they are cold; in the steady phase they
/// are as fast as ever.
TEST_F(SecondRunsTest, what_is_slower_than_sequential_when_it_is_cold_does_not_win) {
  for (const auto& [faults, all] : {std::pair{"slow_cold=1", true}, {"slow_cold=0.7", false}}) {
    SetUp();
    CountingMachine machine(faults);
    Store store(file(), Access::write);
    const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
    ASSERT_TRUE(report) << report.error().message;
    const Winner& winner = report->winners.at(0);
    EXPECT_EQ(strategy_of(winner.candidate.config) == strategy_of<Sequential>(), all);
    std::set<Config> out;
    std::map<Config, double> fast;  // and its speedup in the steady phase
    for (const PhaseResult& each : store.phase_results(report->run)) {
      ASSERT_TRUE(each.speedup);
      if (each.phase == RunPhase::steady && each.speedup->median > 1) {
        fast[each.config] = each.speedup->median;
      }
      if (each.phase != RunPhase::cold || each.speedup->high >= 1) continue;
      EXPECT_NEAR(each.speedup->median, fast.at(each.config) / 2, 0.05);
      out.insert(each.config);
    }
    EXPECT_FALSE(out.empty()) << faults;
    EXPECT_FALSE(out.contains(winner.candidate.config));
    if (!all) {
      EXPECT_TRUE(fast.contains(winner.candidate.config));
    }
    EXPECT_TRUE(store.check().empty());
  }
}

}  // namespace
}  // namespace overlaptune
