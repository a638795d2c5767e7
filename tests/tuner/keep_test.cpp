#include "tuner/keep.hpp"

#include <string>
#include <variant>
#include <vector>

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
    return keeper.keep({.candidates = std::move(candidates), .finished = finished}, run_again);
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
};

TEST_F(KeepTest, the_fastest_wins_with_the_times_of_its_second_run) {
  machine.times = {{kFour, 80}};
  const auto winner = keep({measured(kSequential, 100), measured(kTwo, 90), measured(kFour, 75)});
  ASSERT_TRUE(winner && *winner);
  EXPECT_EQ(to_string((*winner)->candidate.config), kFour);
  EXPECT_EQ((*winner)->candidate.measured->median, us(80));
  EXPECT_EQ((*winner)->sequential, us(100));
  ASSERT_EQ(machine.runs.size(), 1U);
  EXPECT_TRUE(machine.runs[0].options.spread);
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
  ASSERT_EQ(machine.runs.size(), 2U);
  EXPECT_FALSE(machine.runs[1].options.timeline);
}

TEST_F(KeepTest, sequential_is_kept_while_the_fastest_runs_again) {
  std::string meanwhile;
  machine.before_result = [&](const auto&) { meanwhile = stored(); };
  machine.times = {{kTwo, 90}};
  ASSERT_TRUE(keep({measured(kSequential, 100), measured(kTwo, 90)}));
  EXPECT_EQ(meanwhile, kSequential);
  EXPECT_EQ(stored(), kTwo);
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
