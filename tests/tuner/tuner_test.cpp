#include "tuner/tuner.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/captured_log.hpp"
#include "tests/tuner/whole_run.hpp"
#include "tuner/tuning_run.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST_F(TunerTest, the_winner_is_the_fastest_of_all_that_was_measured) {
  CountingMachine machine;
  Store store(file(), Access::write);
  // Both are too small to be worth overlapping.
  const std::vector<Problem> problems{kSmallGather, kGather};
  const auto report = tune(machine, store, problems, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 2U);
  const PlatformId platform = store.platforms().front().id;
  for (const Problem& problem : problems) {
    const auto winner = store.winner(platform, problem, Launch::graph);
    ASSERT_TRUE(winner);
    Microseconds best = us(1e300);
    bool baseline = false;
    for (const Candidate& c : store.candidates(report->run, problem, Launch::graph)) {
      if (c.measured) best = std::min(best, c.measured->median);
      baseline |=
          c.origin == Origin::baseline && strategy_of(c.config) == strategy_of<Sequential>();
    }
    EXPECT_TRUE(baseline);
    ASSERT_EQ(strategy_of(winner->winner.candidate.config),
              strategy_of<Sequential>());  // not run again
    EXPECT_EQ(winner->winner.candidate.measured->median, best);
    EXPECT_GE(winner->winner.sequential, best);
  }
}

TEST_F(TunerTest, a_run_that_is_stopped_resumes_without_measuring_twice) {
  const std::vector<Problem> problems{kReduce, kGather};
  CountingMachine whole;
  fs::copy_file(folder_ / "probed.db", folder_ / "whole.db", fs::copy_options::overwrite_existing);
  Store undisturbed(folder_ / "whole.db", Access::write);
  const auto expected = tune(whole, undisturbed, problems, options(), go_on);
  ASSERT_TRUE(expected);

  CountingMachine machine;
  Store store(file(), Access::write);
  const auto first =
      tune(machine, store, problems, options(),
           [&](std::size_t, std::size_t, std::string_view) { return machine.runs < 5; });
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->stopped);
  EXPECT_EQ(first->measured, 5);
  const PlatformId platform = store.platforms().front().id;
  EXPECT_FALSE(store.last_tuning_run(platform)->finished);
  TuneOptions again = options();
  again.resume = true;
  const auto second = tune(machine, store, problems, again, go_on);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->run, first->run);
  EXPECT_EQ(second->resumed, 5);
  EXPECT_EQ(second->measured + second->resumed, expected->measured);
  EXPECT_EQ(machine.runs, whole.runs);
  EXPECT_EQ(second->winners, expected->winners);
  EXPECT_TRUE(store.last_tuning_run(platform)->finished);
}

TEST_F(TunerTest, what_the_problems_are_is_stored_before_anything_is_measured) {
  CountingMachine machine;
  Store store(file(), Access::write);
  TuneOptions of_a_model = options();
  of_a_model.gemms = {{.model = "llama",
                       .product = Product::down,
                       .tokens = kReduce.m,
                       .times_per_pass = 80,
                       .problem = kReduce},
                      {.model = "llama",
                       .product = Product::qkv,
                       .parallelism = Parallelism::sequence,
                       .tokens = kGather.m,
                       .times_per_pass = 80,
                       .problem = kGather}};
  const std::vector<Problem> problems{kReduce, kGather};
  const auto stopped = tune(machine, store, problems, of_a_model,
                            [](std::size_t, std::size_t, std::string_view) { return false; });
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(machine.runs, 0);
  EXPECT_EQ(store.layer_gemms(store.platforms().front().id), of_a_model.gemms);
  of_a_model.resume = true;
  ASSERT_TRUE(tune(machine, store, problems, of_a_model, go_on));
  EXPECT_EQ(store.layer_gemms(store.platforms().front().id), of_a_model.gemms);
}

TEST_F(TunerTest, a_winner_that_overlaps_is_traced_once) {
  CountingMachine machine;
  Store store(file(), Access::write);
  const CapturedLog log;
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  const Winner& winner = report->winners.at(0);
  ASSERT_NE(strategy_of(winner.candidate.config), strategy_of<Sequential>());
  ASSERT_TRUE(winner.overlap_fraction);
  EXPECT_GT(*winner.overlap_fraction, 0);
  EXPECT_LE(*winner.overlap_fraction, 1);
  ASSERT_EQ(machine.traces.size(), 1U);
  const auto& traced = machine.traces[0].configs;
  const auto at = std::find(traced.begin(), traced.end(), winner.candidate.config);
  ASSERT_NE(at, traced.end());
  EXPECT_EQ(traced.front(), Config{});
  EXPECT_TRUE(machine.traces[0].options.spread);
  EXPECT_EQ(machine.traces[0].options.launch, winner.candidate.launch);
  ASSERT_EQ(machine.traces[0].options.expected.size(), traced.size());
  EXPECT_EQ(machine.traces[0].options.expected[static_cast<std::size_t>(at - traced.begin())],
            winner.candidate.predicted);
  EXPECT_EQ(winner.candidate.measured->count, machine.traces[0].options.repetitions);
  const auto stored = store.winner(store.platforms().front().id, kTunedProblem, Launch::graph);
  EXPECT_EQ(stored->winner, winner);
  EXPECT_EQ(log.text(), "");
}

TEST_F(TunerTest, what_the_gpus_were_seen_doing_counts_before_the_timeline) {
  CountingMachine machine;
  machine.after_trace = [](auto& results) {
    change_candidates(results, [](RunResult& result) {
      result.activities = {
          {.kind = ActivityKind::gemm, .start = us(0), .end = us(100)},
          {.stream = 1, .kind = ActivityKind::collective, .start = us(70), .end = us(110)}};
    });
  };
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->winners.at(0).overlap_fraction, 0.75);
}

TEST_F(TunerTest, sequential_is_not_traced) {
  CountingMachine machine("crash=1");  // spares `sequential`
  Store store(file(), Access::write);
  const CapturedLog log;
  const auto report = tune(machine, store, std::vector{kTunedProblem}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(strategy_of(report->winners.at(0).candidate.config), strategy_of<Sequential>());
  EXPECT_FALSE(report->winners[0].overlap_fraction);
  EXPECT_TRUE(machine.traces.empty());
  EXPECT_EQ(log.text(), "");
}

TEST_F(TunerTest, the_winner_is_stored_before_it_is_traced) {
  CountingMachine machine;
  Store store(file(), Access::write);
  std::int64_t winners = 0;
  machine.after_trace = [&](auto&) { winners = store.info().winners; };
  ASSERT_TRUE(tune(machine, store, std::vector{kTunedProblem}, options(), go_on));
  EXPECT_EQ(winners, 1);
}

TEST_F(TunerTest, a_machine_that_tells_nothing_is_asked_once_and_that_is_said) {
  CountingMachine machine;
  machine.after_trace = [](auto& results) {
    change_candidates(results, [](RunResult& each) { each.timeline.reset(); });
  };
  Store store(file(), Access::write);
  TuneOptions both = options();
  both.launches = {Launch::graph, Launch::eager};
  const CapturedLog log;
  const auto report = tune(machine, store, std::vector{kTunedProblem}, both, go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 2U);
  for (const Winner& winner : report->winners) {
    EXPECT_NE(strategy_of(winner.candidate.config), strategy_of<Sequential>());
    EXPECT_FALSE(winner.overlap_fraction);
  }
  EXPECT_EQ(store.winners().size(), 2U);
  EXPECT_EQ(machine.traces.size(), 1U);
  EXPECT_EQ(log.count("h200-nvlink-x8 does not tell what its GPUs do (is CUPTI installed?)"), 1)
      << log.text();
}

TEST_F(TunerTest, both_kinds_of_world_are_measured) {
  CountingMachine machine;
  Store store(file(), Access::write);
  TuneOptions both = options();
  both.launches = {Launch::graph, Launch::exclusive_graph};
  const auto report = tune(machine, store, std::vector{kTunedProblem}, both, go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 2U);
  EXPECT_EQ(report->winners[0].candidate.launch, Launch::graph);
  EXPECT_EQ(report->winners[1].candidate.launch, Launch::exclusive_graph);
  for (const Launch launch : both.launches) {
    EXPECT_GT(store.candidates(report->run, kTunedProblem, launch).size(), 1U);
  }
}

TEST_F(TunerTest, what_is_not_proposed_any_more_may_still_win) {
  CountingMachine machine;
  Store store(file(), Access::write);
  TuneOptions again = options();
  again.resume = true;
  const auto first = tune(machine, store, std::vector{kTunedProblem}, again, go_on);
  ASSERT_TRUE(first);
  std::vector<Candidate> stored = store.candidates(first->run, kTunedProblem, Launch::graph);
  const auto signaled = std::find_if(stored.begin(), stored.end(), [](const Candidate& each) {
    return wave_groups_of(each.config).size() > 1;
  });
  ASSERT_NE(signaled, stored.end());
  // A config that the model would not propose: all tiles in one group. It is by far the fastest.
  Candidate odd = *signaled;
  auto& groups = *wave_groups_of(odd.config);
  groups = {std::accumulate(groups.begin(), groups.end(), std::int64_t{0})};
  odd.rank_by_model = std::nullopt;
  odd.origin = Origin::explore;
  odd.measured = Summary{us(1), us(1), us(1), 9};
  odd.speedup = Candidate::Speedup{1000, 1000, 1000};
  store.add_candidate(first->run, odd);
  const int runs = machine.runs;
  machine.after_second_run = [](auto& results) { scale(results->back(), 1e-3); };
  const auto second = tune(machine, store, std::vector{kTunedProblem}, again, go_on);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->measured, 0);
  EXPECT_EQ(second->resumed, first->measured);
  EXPECT_EQ(machine.runs, runs + 3);  // the phases of the winner's second one
  ASSERT_EQ(second->winners.size(), 1U);
  EXPECT_EQ(second->winners.front().candidate.config, odd.config);
}

TEST_F(TunerTest, of_many_problems_the_first_have_winners_before_the_others_are_probed) {
  const std::vector<Problem> problems{kSmallGather, kReduce};
  TuneOptions single = options();
  single.batch = 1;
  CountingMachine whole;
  fs::copy_file(folder_ / "probed.db", folder_ / "whole.db", fs::copy_options::overwrite_existing);
  Store undisturbed(folder_ / "whole.db", Access::write);
  const auto expected = tune(whole, undisturbed, problems, single, go_on);
  ASSERT_TRUE(expected);
  ASSERT_EQ(expected->winners.size(), 2U);

  CountingMachine machine;
  Store store(file(), Access::write);
  const auto first =
      tune(machine, store, problems, single, [&](std::size_t, std::size_t, std::string_view) {
        return !store.has_winner(store.platforms().front().id, kSmallGather, Launch::graph);
      });
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->stopped);
  ASSERT_EQ(first->winners.size(), 1U);
  EXPECT_EQ(first->winners.front(), expected->winners.front());
  EXPECT_TRUE(store.candidates(first->run, kReduce, Launch::graph).empty());
  const int probes = machine.probes;
  EXPECT_LT(probes, whole.probes);  // those of the second batch are missing

  single.resume = true;
  const auto second = tune(machine, store, problems, single, go_on);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->run, first->run);
  EXPECT_EQ(second->resumed, first->measured);
  const auto probes_of = [](const Store& of) {
    std::vector<std::string> names;
    for (const Measurement& each : of.measurements(of.platforms().front().id)) {
      names.push_back(to_string(each.probe));
    }
    return names;
  };
  EXPECT_THAT(probes_of(store), testing::UnorderedElementsAreArray(probes_of(undisturbed)));
  EXPECT_EQ(machine.runs, whole.runs);
  EXPECT_EQ(second->winners, expected->winners);
}

TEST_F(TunerTest, a_batch_behind_the_one_that_was_stopped_keeps_its_winners) {
  const std::vector<Problem> problems{kSmallGather, kReduce};
  TuneOptions single = options();
  single.batch = 1;
  CountingMachine machine;
  Store store(file(), Access::write);
  const auto first =
      tune(machine, store, problems, single, [&](std::size_t, std::size_t, std::string_view what) {
        return what != to_string(kReduce) || machine.runs == 0 ||
               store.candidates(1, kReduce, Launch::graph).size() < 2;
      });
  ASSERT_TRUE(first);
  ASSERT_EQ(first->run, 1);
  ASSERT_EQ(store.candidates(1, kReduce, Launch::graph).size(), 2U);
  const int runs = machine.runs;
  single.resume = true;
  const auto second = tune(machine, store, problems, single, go_on);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->winners.size(), 2U);
  EXPECT_EQ(second->winners.front(), first->winners.front());
  EXPECT_EQ(second->resumed, first->measured);
  EXPECT_GT(machine.runs, runs);
}

TEST_F(TunerTest, problems_with_fewer_candidates_than_others_are_short) {
  CountingMachine machine;
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kSmallGather, kGather}, options(), go_on);
  ASSERT_TRUE(report);
  const std::vector<Problem> all{kSmallGather, kGather, kTunedProblem};
  const std::vector<Launch> launches{Launch::graph};
  const TuningRun run{.id = report->run, .platform = store.platforms().front().id};
  const auto most = store.candidates(run.id, kGather, Launch::graph);
  // More than the other problem can have.
  Candidate odd = most.front();
  odd.verdict = Verdict::timeout;
  odd.measured.reset();
  for (int ctas = 1; ctas < 20; ++ctas) {
    odd.config = Chunked{.comm_ctas = ctas, .chunks = 3};
    store.add_candidate(run.id, odd);
  }
  const StoredWork stored(store, run, all, launches);
  EXPECT_TRUE(stored.is_short(kSmallGather, Launch::graph));
  EXPECT_TRUE(stored.is_short(kTunedProblem, Launch::graph));
  EXPECT_FALSE(stored.is_short(kGather, Launch::graph));
  EXPECT_FALSE(stored.finished(kSmallGather, Launch::graph));
  EXPECT_EQ(stored.finished(kGather, Launch::graph),
            store.winner(run.platform, kGather, Launch::graph)->winner);
  EXPECT_TRUE(stored.has_any(std::vector{kTunedProblem, kGather}));
  EXPECT_FALSE(stored.has_any(std::vector{kTunedProblem}));
  const StoredWork other(store, {.id = run.id + 1, .platform = run.platform}, all, launches);
  EXPECT_TRUE(other.is_short(kGather, Launch::graph));
}

TEST_F(TunerTest, another_request_is_not_resumed) {
  CountingMachine machine;
  Store store(file(), Access::write);
  ASSERT_TRUE(tune(machine, store, std::vector{kReduce}, options(), go_on));
  TuneOptions again = options();
  again.resume = true;
  again.top_k = 5;
  const auto report = tune(machine, store, std::vector{kReduce}, again, go_on);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::bad_input);
}

TEST_F(TunerTest, faulty_candidates_are_kept_with_their_reason_and_never_win) {
  CountingMachine machine("hang=0.2,wrong=0.2,crash=0.2,rank_died=0.2");
  Store store(file(), Access::write);
  TuneOptions many = options();
  many.top_k = 20;
  const auto report = tune(machine, store, std::vector{kReduce}, many, go_on);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->failed, 5);
  std::set<Verdict> seen;
  for (const StoredCandidate& stored : store.all_candidates()) {
    seen.insert(stored.candidate.verdict);
    EXPECT_EQ(stored.candidate.reason.empty(), stored.candidate.verdict == Verdict::valid);
  }
  EXPECT_GE(seen.size(), 4U);
  EXPECT_EQ(report->winners.front().candidate.verdict, Verdict::valid);
}

TEST_F(TunerTest, nothing_valid_is_an_error_of_its_own) {
  CountingMachine machine("crash=1,sequential=1");
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kReduce}, options(), go_on);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::nothing_validated);
}

TEST_F(TunerTest, a_lost_machine_ends_the_run_and_keeps_what_was_measured) {
  CountingMachine machine;
  machine.lost_after = 3;
  Store store(file(), Access::write);
  const auto report = tune(machine, store, std::vector{kReduce}, options(), go_on);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(store.all_candidates().size(), 3U);
}

TEST_F(TunerTest, a_problem_without_memory_is_left_out_and_the_next_one_is_tuned) {
  CountingMachine machine;
  machine.too_large = kReduce;
  Store store(file(), Access::write);
  const CapturedLog log;
  const auto report = tune(machine, store, std::vector{kReduce, kGather}, options(), go_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), 1U);
  EXPECT_EQ(report->winners[0].candidate.problem, kGather);
  EXPECT_EQ(store.winners().size(), 1U);
  EXPECT_EQ(log.count("left out: no memory for it"), 1) << log.text();
}

TEST_F(TunerTest, a_spent_budget_stops_before_the_next_candidate) {
  CountingMachine machine;
  Store store(file(), Access::write);
  TuneOptions none = options();
  none.budget = std::chrono::duration<double>(0);
  const auto report = tune(machine, store, std::vector{kReduce}, none, go_on);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(machine.runs, 0);
}

TEST_F(TunerTest, a_search_that_is_stopped_proposes_nothing) {
  CountingMachine machine;
  Store store(file(), Access::write);
  int asked = 0;  // the search asks for each combination, so the third time lies within it
  const auto report = tune(machine, store, std::vector{kReduce}, options(),
                           [&](std::size_t, std::size_t, std::string_view) { return ++asked < 3; });
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(machine.runs, 0);
}

TEST_F(TunerTest, more_ranks_than_gpus_are_refused_before_anything_is_written) {
  CountingMachine machine;
  Store store(file(), Access::write);
  Problem problem = kReduce;
  problem.ranks = 16;
  const auto report = tune(machine, store, std::vector{problem}, options(), go_on);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(store.info().tuning_runs, 0);
}

}  // namespace
}  // namespace overlaptune
