#include "tuner/keep.hpp"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuner/captured_log.hpp"
#include "tests/tuner/scripted_machine.hpp"

namespace overlaptune {
namespace {

const Problem kKept{Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 8};
const std::string kSequential = line("sequential");
const std::string kTwo = line("chunked ctas=8 transport=ring chunks=2");
const std::string kFour = line("chunked ctas=8 transport=ring chunks=4");

/// A candidate as measured beside a `sequential` of 100 us.
Candidate measured(const std::string& config, double time) {
  const bool baseline = config == kSequential;
  const double speedup = 100 / time;
  return {.problem = kKept,
          .config = value_or_throw(parse_config(config)),
          .origin = baseline ? Origin::baseline : Origin::shortlist,
          .predicted = us(90),
          .measured = Summary{us(time), us(time), us(time), 9},
          .speedup = Candidate::Speedup{speedup, speedup, speedup}};
}

struct KeepTest : testing::Test {
  [[nodiscard]] Expected<std::optional<Winner>> keep(std::vector<Candidate> candidates,
                                                     bool run_again = true, bool finished = true) {
    WinnerKeeper keeper(machine, store, run);
    auto kept = keeper.keep({.candidates = std::move(candidates), .finished = finished}, run_again);
    if (!kept) return error_of(kept);
    ruled_out = kept->ruled_out;
    return kept->winner;
  }
  [[nodiscard]] std::string stored() const {
    const auto winner = store.winner(run.platform, kKept, Launch::graph);
    return winner ? to_string(winner->winner.candidate.config) : "";
  }

  CapturedLog log{};
  TemporaryFolder folder{};
  Store store{folder / "kept.db", Access::create};
  ScriptedMachine machine{};
  PlatformId platform = store.add_platform(machine.platform());
  TuningRun run{.id = store.begin_tuning_run(platform, "test", {}), .platform = platform};
  std::vector<Config> ruled_out{};  ///< by the last `keep`
};

TEST_F(KeepTest, the_fastest_wins_with_the_times_of_its_second_run) {
  machine.times = {{kFour, 80}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90), measured(kFour, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kFour);
  EXPECT_EQ((*winner)->candidate.measured->median, us(80));
  EXPECT_EQ((*winner)->sequential, us(100));
  ASSERT_EQ(machine.runs.size(), 3U);
  EXPECT_TRUE(machine.runs[0].options.spread);
  EXPECT_EQ(machine.runs[0].options.phase, RunPhase::steady);
  for (const auto& each : machine.runs) EXPECT_TRUE(each.options.own_memory);
  EXPECT_EQ(machine.runs[1].options.phase, RunPhase::cold);
  EXPECT_EQ(machine.runs[2].options.phase, RunPhase::beside);
  EXPECT_EQ((*winner)->candidate.measured->count, machine.runs[0].options.repetitions);
  EXPECT_EQ(store.winner(platform, kKept, Launch::graph)->winner, **winner);
}

TEST_F(KeepTest, the_next_one_wins_where_the_fastest_is_not_faster_for_long) {
  machine.times = {{kTwo, 95}, {kFour, 101}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90), measured(kFour, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kTwo);
  EXPECT_EQ(stored(), kTwo);
}

TEST_F(KeepTest, sequential_wins_where_all_fail_and_is_not_run_again) {
  machine.failures = {{kTwo, Verdict::wrong}, {kFour, Verdict::crashed}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90), measured(kFour, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ((*winner)->candidate, measured(kSequential, 100));
  EXPECT_EQ(stored(), kSequential);
  for (const auto& each : machine.runs) EXPECT_NE(each.config, kSequential);
}

TEST_F(KeepTest, nothing_wins_where_sequential_is_wrong_or_has_no_time) {
  Candidate wrong = measured(kSequential, 100);
  wrong.verdict = Verdict::wrong;
  Candidate untimed = measured(kSequential, 100);
  untimed.measured.reset();
  for (const Candidate& sequential : {wrong, untimed}) {
    const auto winner = keep({sequential, measured(kTwo, 90)});
    ASSERT_TRUE(winner);
    EXPECT_FALSE(*winner);
    EXPECT_EQ(stored(), "");
  }
  EXPECT_TRUE(machine.runs.empty());
}

TEST_F(KeepTest, a_failure_of_the_trace_is_told_from_one_of_the_winner) {
  machine.before_result = [&](const auto& each) {
    machine.failures.clear();
    if (each.options.timeline) machine.failures = {{kTwo, Verdict::timeout}};
  };
  machine.times = {{kTwo, 90}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kTwo);
  ASSERT_EQ(machine.runs.size(), 4U);  // with the trace, without it, and the two other phases
  EXPECT_FALSE(machine.runs[1].options.timeline);
  EXPECT_EQ(machine.runs[1].options.phase, RunPhase::steady);
}

TEST_F(KeepTest, sequential_is_kept_while_the_fastest_runs_again) {
  std::string meanwhile;
  machine.before_result = [&](const auto&) { meanwhile = stored(); };
  machine.times = {{kTwo, 90}};
  ASSERT_TRUE(keep({measured(kSequential, 100), measured(kTwo, 90)}));
  EXPECT_EQ(meanwhile, kSequential);
  EXPECT_EQ(stored(), kTwo);
}

/// `sequential` takes 100 us in each phase.
TEST_F(KeepTest, what_is_slower_than_sequential_in_any_phase_does_not_win) {
  for (const RunPhase phase : {RunPhase::cold, RunPhase::beside}) {
    run.id = store.begin_tuning_run(platform, "another", {});
    machine.times = {{kTwo, 79}, {kFour, 75}};
    machine.times_in = {{{phase, kFour}, {110, 112, 111}}};
    const auto winner = keep({measured(kSequential, 100), measured(kTwo, 78), measured(kFour, 75)});
    ASSERT_TRUE(winner && *winner);
    EXPECT_EQ(to_string((*winner)->candidate.config), kTwo);
    EXPECT_EQ((*winner)->candidate.measured->median, us(79));
    EXPECT_EQ(stored(), kTwo);
    std::map<std::pair<RunPhase, std::string>, PhaseResult> found;
    for (const PhaseResult& each : store.phase_results(run.id)) {
      found[{each.phase, to_string(each.config)}] = each;
    }
    const bool is_cold = phase == RunPhase::cold;  // what is out does not run in a later phase
    EXPECT_EQ(found.size(), is_cold ? 5U : 6U);
    const PhaseResult& slow = found.at({phase, kFour});
    EXPECT_EQ(slow.measured->median, us(111));
    ASSERT_TRUE(slow.speedup);
    EXPECT_DOUBLE_EQ(slow.speedup->median, 100.0 / 111);
    EXPECT_DOUBLE_EQ(slow.speedup->low, 100.0 / 112);
    EXPECT_DOUBLE_EQ(slow.speedup->high, 100.0 / 110);
    EXPECT_EQ(slow.sequential, us(100));
    EXPECT_DOUBLE_EQ(found.at({RunPhase::steady, kFour}).speedup->median, 100.0 / 75);
    EXPECT_EQ(
        log.count(fmt::format("once more ({}): speedup 0.901 (0.893 to 0.909)", to_string(phase))),
        1)
        << log.text();
  }
}

/// In five of nine repetitions it is slower: that may be chance.
TEST_F(KeepTest, what_may_be_as_fast_as_sequential_stays) {
  machine.times = {{kTwo, 90}};
  machine.times_in = {{{RunPhase::cold, kTwo}, {120, 90, 120, 90, 120, 90, 120, 90, 120}}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kTwo);
}

TEST_F(KeepTest, sequential_wins_where_all_are_slower_in_a_phase) {
  machine.times = {{kTwo, 90}, {kFour, 75}};  // too far apart to run in turn
  machine.times_in = {{{RunPhase::cold, kTwo}, {110}}, {{RunPhase::beside, kFour}, {110}}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90), measured(kFour, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(ruled_out, (std::vector{measured(kFour, 75).config, measured(kTwo, 90).config}));
  EXPECT_EQ((*winner)->candidate, measured(kSequential, 100));
  EXPECT_EQ(stored(), kSequential);
  EXPECT_EQ(store.info().phase_results, 3 + 2);
}

TEST_F(KeepTest, a_phase_that_the_machine_cannot_run_is_said_and_decides_nothing) {
  machine.times = {{kTwo, 90}};
  machine.cannot = {RunPhase::cold};
  machine.times_in = {{{RunPhase::cold, kTwo}, {110}}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kTwo);
  EXPECT_EQ(log.count("the phase cold was not run: this phase is not for this machine"), 1)
      << log.text();
  for (const PhaseResult& each : store.phase_results(run.id)) EXPECT_NE(each.phase, RunPhase::cold);
  EXPECT_EQ(store.info().phase_results, 2);
}

/// Each result is in the database before the next phase begins, so a run that is killed keeps it.
TEST_F(KeepTest, what_a_phase_found_is_stored_before_the_next_one) {
  std::vector<std::int64_t> rows;
  machine.before_result = [&](const auto&) { rows.push_back(store.info().phase_results); };
  machine.times = {{kTwo, 90}};
  ASSERT_TRUE(keep({measured(kSequential, 100), measured(kTwo, 90)}));
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 1, 2}));
  ASSERT_TRUE(keep({measured(kSequential, 100), measured(kTwo, 90)}));  // as a resumed run does
  EXPECT_EQ(store.info().phase_results, 3);
}

/// A machine puts a hang down to the last config of a run.
TEST_F(KeepTest, what_hangs_in_company_is_found_out_alone) {
  const std::string three = line("chunked ctas=8 transport=ring chunks=3");
  machine.times = {{kTwo, 79}, {kFour, 78}, {three, 77}};
  machine.before_result = [&](const auto& each) {
    machine.failures.clear();
    if (each.options.phase != RunPhase::cold) return;
    if (each.configs > 2) machine.failures = {{kTwo, Verdict::timeout}};
    if (each.config == three) machine.failures = {{three, Verdict::timeout}};
  };
  const auto winner = keep(
      {measured(kSequential, 100), measured(three, 77), measured(kFour, 78), measured(kTwo, 79)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kFour);
  EXPECT_EQ(log.count("once more (cold) timeout: as the test wants it"), 1) << log.text();
  std::map<std::string, Verdict> cold;
  for (const PhaseResult& each : store.phase_results(run.id)) {
    if (each.phase == RunPhase::cold) cold[to_string(each.config)] = each.verdict;
  }
  EXPECT_EQ(cold, (std::map<std::string, Verdict>{
                      {kTwo, Verdict::valid}, {kFour, Verdict::valid}, {three, Verdict::timeout}}));
}

TEST_F(KeepTest, the_second_run_has_the_three_best_that_are_near_each_other) {
  std::vector<Candidate> candidates{measured(kSequential, 100)};
  for (const double time : {80.0, 81.0, 79.0, 78.0, 95.0}) {
    candidates.push_back(measured(
        line(fmt::format("chunked ctas=8 transport=ring chunks={}", candidates.size())), time));
    machine.times[to_string(candidates.back().config)] = time;
  }
  ASSERT_TRUE(keep(candidates));
  for (const auto& each : machine.runs) EXPECT_EQ(each.configs, 4U);
  EXPECT_EQ(machine.runs.size(), 3U);
  machine.runs.clear();
  std::erase_if(candidates, [](const Candidate& each) {
    return each.measured->median > us(78) && each.measured->median < us(95);
  });
  ASSERT_TRUE(keep(candidates));  // 78 us, and 95 us, which is too far away
  for (const auto& each : machine.runs) EXPECT_EQ(each.configs, 2U);
}

TEST_F(KeepTest, without_a_second_run_the_fastest_wins_as_it_is) {
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)}, false);
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ((*winner)->candidate, measured(kTwo, 90));
  EXPECT_TRUE(machine.runs.empty());
}

TEST_F(KeepTest, an_unfinished_problem_keeps_the_winner_that_it_had) {
  const auto first = keep({measured(kSequential, 100), measured(kFour, 75)}, false, false);
  ASSERT_TRUE(first && *first);  // better than none
  const auto more =
      keep({measured(kSequential, 100), measured(kFour, 75), measured(kTwo, 70)}, false, false);
  ASSERT_TRUE(more && *more);  // the same run, resumed, has measured more
  EXPECT_EQ(stored(), kTwo);
  run.id = store.begin_tuning_run(platform, "another", {});
  const auto second = keep({measured(kSequential, 100), measured(kFour, 60)}, false, false);
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  EXPECT_EQ(stored(), kTwo);
  const auto third = keep({measured(kSequential, 100), measured(kTwo, 60)}, false, true);
  ASSERT_TRUE(third && *third);
  EXPECT_EQ(stored(), kTwo);
}

TEST_F(KeepTest, nothing_wins_where_sequential_was_not_timed) {
  Candidate sequential = measured(kSequential, 100);
  sequential.verdict = Verdict::crashed;
  sequential.reason = "out of luck";
  sequential.measured.reset();
  sequential.speedup.reset();
  const auto none = keep({sequential, measured(kTwo, 90)});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(stored(), "");
  EXPECT_EQ(log.count("sequential is crashed: out of luck"), 1) << log.text();
}

TEST_F(KeepTest, nothing_wins_where_nothing_was_measured) {
  const auto none = keep({}, true, false);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(stored(), "");
}

TEST_F(KeepTest, a_winner_is_compared_with_the_fastest_gemm_and_collective) {
  // A collective takes 10 us plus 50 us for the whole buffer; with more than 8 CTAs, half of the
  // latter.
  const double whole = static_cast<double>(collective_bytes(kKept).count);
  machine.probe_time = [&](const Probe& probe) {
    if (std::holds_alternative<GemmProbe>(probe)) return us(33);
    const auto& collective = std::get<CollectiveProbe>(probe);
    const double share = static_cast<double>(collective.bytes.count) / whole;
    return us(10 + share * (collective.comm_ctas == 8 ? 25 : 50));
  };
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)}, false);
  ASSERT_TRUE(winner && *winner);
  EXPECT_DOUBLE_EQ((*winner)->gemm_alone.count(), 33);
  EXPECT_DOUBLE_EQ((*winner)->collective_alone.count(), 35);  // in one piece
  EXPECT_DOUBLE_EQ((*winner)->sequential.count(), 100);
}

/// By itself the library's GEMM takes 40 us and the generated one 36, a collective 30. In the
/// rounds of the winner the library's GEMM takes 50 us (median), so the generated one 45.
TEST_F(KeepTest, gemm_and_collective_alone_are_those_of_the_winners_rounds) {
  const std::string tiled = line(
      "signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=16 transport=ring "
      "groups=512,512");
  machine.probe_time = [](const Probe& probe) {
    const auto* gemm = std::get_if<GemmProbe>(&probe);
    if (gemm == nullptr) return us(30);
    return us(gemm->tile.is_library() ? 40 : 36);
  };
  machine.gemm_alone = {us(50), us(48), us(90)};
  machine.times = {{tiled, 70}};
  for (const auto& [in_rounds, kept] : {std::pair{28.0, 28.0}, std::pair{33.0, 30.0}}) {
    machine.collective_alone = {us(in_rounds)};
    const auto winner = keep({measured(kSequential, 100), measured(tiled, 75)});
    ASSERT_TRUE(winner && *winner);
    EXPECT_EQ(to_string((*winner)->candidate.config), tiled);
    EXPECT_DOUBLE_EQ((*winner)->gemm_alone.count(), 45);
    EXPECT_DOUBLE_EQ((*winner)->collective_alone.count(), kept);
  }
  machine.gemm_alone.clear();  // a machine that does not time them there
  machine.collective_alone.clear();
  const auto winner = keep({measured(kSequential, 100), measured(tiled, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_DOUBLE_EQ((*winner)->gemm_alone.count(), 36);
  EXPECT_DOUBLE_EQ((*winner)->collective_alone.count(), 30);
}

TEST_F(KeepTest, nothing_wins_where_the_machine_is_lost) {
  for (const bool at_gemms : {true, false}) {
    machine.probe_time = [&](const Probe& probe) -> Expected<Microseconds> {
      if (std::holds_alternative<GemmProbe>(probe) != at_gemms) return us(33);
      return tl::make_unexpected(Error{ErrorKind::machine_unavailable, "gone"});
    };
    const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90)});
    ASSERT_FALSE(winner);
    EXPECT_EQ(winner.error().message, "gone");
    EXPECT_EQ(stored(), "");
  }
}

}  // namespace
}  // namespace overlaptune
