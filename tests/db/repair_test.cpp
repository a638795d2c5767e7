// `Store::repair`: what is sound stays, winners come back from their candidates, the rest is told.

#include <algorithm>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Generator;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RepairTest : public testing::Test {
 protected:
  void change(const std::string& sql) {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
    database.exec(sql);
  }

  /// A tuned problem: `sequential` in 100 us, 25 us and 50 us faster candidates, and the last of
  /// them as the winner, which took 48 us when it ran once more.
  Winner tune(Store& store, std::span<const PhaseResult> phases = {}) {
    Candidate baseline{.problem = problem_,
                       .origin = Origin::baseline,
                       .predicted = us(90),
                       .measured = Summary{us(100), us(99), us(102), 24},
                       .speedup = Candidate::Speedup{1, 1, 1}};
    Candidate slower = baseline;
    slower.config = samples::numbered_config(2);
    slower.origin = Origin::shortlist;
    slower.measured = Summary{us(75), us(74), us(76), 24};
    slower.speedup = Candidate::Speedup{1.25, 1.2, 1.3};
    Candidate best = slower;
    best.config = samples::numbered_config(3);
    best.measured = Summary{us(50), us(49), us(51), 24};
    best.speedup = Candidate::Speedup{2, 1.9, 2.1};
    const auto run = store.begin_tuning_run(store.add_platform(draw_.platform()), "tune", {});
    for (const Candidate& each : {baseline, slower, best}) store.add_candidate(run, each);
    Winner winner{.candidate = best,
                  .sequential = us(96),
                  .gemm_alone = us(40),
                  .collective_alone = us(30),
                  .overlap_fraction = 0.75};
    winner.candidate.measured = Summary{us(48), us(47), us(49), 24};
    store.put_winner(run, winner);
    store.add_phase_results(run, phases);
    store.finish_tuning_run(run);
    return winner;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "damaged.db";
  Generator draw_{5};
  const Problem problem_{Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 4};
};

TEST_F(RepairTest, ASoundDatabaseIsLeftAsItIs) {
  Store store(file_, Access::create);
  samples::fill(store, 3, 20);
  const auto before = samples::content(store);
  const auto done = store.repair();
  EXPECT_TRUE(done.copy.empty());
  EXPECT_THAT(done.actions, IsEmpty());
  EXPECT_EQ(samples::content(store), before);
}

TEST_F(RepairTest, ADamagedWinnerIsRebuiltFromItsCandidates) {
  Winner winner;
  {
    Store store(file_, Access::create);
    winner = tune(store);
  }
  change("UPDATE winners SET measured_median_us = measured_median_us / 64");
  Store store(file_, Access::write);
  const auto done = store.repair();
  EXPECT_THAT(done.actions, Contains(HasSubstr("rebuilt from its candidates")));
  EXPECT_THAT(store.check(), IsEmpty());
  const auto rebuilt = store.winners();
  ASSERT_EQ(rebuilt.size(), 1U);
  EXPECT_EQ(rebuilt[0].winner.candidate.config, winner.candidate.config);
  EXPECT_EQ(rebuilt[0].winner.candidate.measured->median, us(50));  // of its first run
  EXPECT_EQ(rebuilt[0].winner.sequential, us(100));
  EXPECT_FALSE(hidden_fraction(rebuilt[0].winner));  // the times alone are not known any more
}

TEST_F(RepairTest, WhatASecondRunRuledOutDoesNotWin) {
  const PhaseResult cold{.problem = problem_,
                         .config = samples::numbered_config(3),
                         .phase = RunPhase::cold,
                         .measured = Summary{us(130), us(129), us(131), 9},
                         .sequential = us(100),
                         .speedup = PhaseResult::Speedup{0.77, 0.75, 0.8}};
  {
    Store store(file_, Access::create);
    tune(store, std::span(&cold, 1));
  }
  change("UPDATE winners SET measured_median_us = measured_median_us / 64");
  Store store(file_, Access::write);
  store.repair();
  const auto rebuilt = store.winners();
  ASSERT_EQ(rebuilt.size(), 1U);
  EXPECT_EQ(rebuilt[0].winner.candidate.config, samples::numbered_config(2));
}

TEST_F(RepairTest, TheCopyIsTheFileAsItWas) {
  {
    Store store(file_, Access::create);
    tune(store);
  }
  change("UPDATE winners SET predicted_us = 1e40");
  const auto done = Store(file_, Access::write).repair();
  ASSERT_TRUE(std::filesystem::exists(done.copy));
  EXPECT_EQ(done.copy.parent_path(), file_.parent_path());
  const Store copy(done.copy, Access::read);
  EXPECT_EQ(copy.check().size(), 1U);
  EXPECT_EQ(SQLite::Database(done.copy.string())
                .execAndGet("SELECT predicted_us FROM winners")
                .getDouble(),
            1e40);
}

/// The problem of a winner may be what is damaged.
TEST_F(RepairTest, AWinnerWhoseProblemIsLostComesBackToItsProblem) {
  {
    Store store(file_, Access::create);
    tune(store);
  }
  change("UPDATE winners SET k = k + 8");
  Store store(file_, Access::write);
  store.repair();
  const auto id = store.platform("")->id;
  EXPECT_TRUE(store.winner(id, problem_, Launch::graph));
  EXPECT_EQ(store.winners().size(), 1U);
}

TEST_F(RepairTest, AWinnerOfNoSoundBaselineIsLeftOut) {
  {
    Store store(file_, Access::create);
    tune(store);
  }
  change(
      "UPDATE winners SET predicted_us = 1e40; UPDATE candidates SET predicted_us = 1e40 WHERE "
      "origin = 'baseline'");
  Store store(file_, Access::write);
  store.repair();
  EXPECT_THAT(store.winners(), IsEmpty());
  EXPECT_EQ(store.all_candidates().size(), 2U);
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(RepairTest, OneBadRowOfEachTableCostsNoOther) {
  samples::Content before;
  {
    Store store(file_, Access::create);
    samples::fill(store, 4, 40);
    before = samples::content(store);
  }
  change(
      "UPDATE candidates SET predicted_us = predicted_us * 2 WHERE id = 7;"
      "UPDATE measurements SET time_p10_us = time_median_us * 2 WHERE id = 5;"
      "UPDATE layer_gemms SET product = 'head' WHERE id = 2;"
      "UPDATE phase_results SET phase = 'warm' WHERE id = 2;"
      "UPDATE provenance SET host = CAST(x'ff' AS TEXT), started_at = 'today' WHERE id = 1;"
      "UPDATE provenance SET uid = 'nobody' WHERE id = 2");
  Store store(file_, Access::write);
  const auto done = store.repair();
  for (const char* told : {"the seal is not that of its values", "expected p10 to p90",
                           "product 'head'", "host holds bytes", "uid is 'nobody'", "candidates: ",
                           "measurements: ", "layer_gemms: ", "phase 'warm'", "phase_results: "}) {
    EXPECT_THAT(done.actions, Contains(HasSubstr(told)));
  }
  EXPECT_THAT(store.check(), IsEmpty());
  const auto after = samples::content(store);
  EXPECT_EQ(after.candidates.size(), before.candidates.size() - 1);
  EXPECT_EQ(after.winners, before.winners);
  EXPECT_EQ(after.platforms, before.platforms);
  EXPECT_EQ(after.measurements[0].size() + after.measurements[1].size(),
            before.measurements[0].size() + before.measurements[1].size() - 1);
}

TEST_F(RepairTest, AMergeOfARepairedDatabaseTakesTheWinnerThatWasNotDamaged) {
  Winner winner;
  {
    Store store(file_, Access::create);
    winner = tune(store);
  }
  const auto sound = folder_ / "sound.db";
  samples::write_bytes(sound, samples::read_bytes(file_));
  change("UPDATE winners SET predicted_us = 1e40");
  Store store(file_, Access::write);
  store.repair();
  store.merge(Store(sound, Access::read));
  EXPECT_EQ(store.winners().at(0).winner, winner);
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(RepairTest, AnotherProcessThatHasTheFileOpenIsNotHarmed) {
  {
    Store store(file_, Access::create);
    tune(store);
  }
  change("UPDATE winners SET predicted_us = 1e40");
  const auto bytes = samples::read_bytes(file_);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  samples::Child other([&] {
    const Store open(file_, Access::read);
    (void)open.info();
    if (write(ready[1], "x", 1) != 1) return 1;
    for (;;) pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto message =
      samples::failure(ErrorKind::cannot_write, [&] { Store(file_, Access::write).repair(); });
  EXPECT_THAT(message, HasSubstr("another process"));
  other.kill_it();
  EXPECT_THAT(Store(file_, Access::write).repair().actions, Contains(HasSubstr("rebuilt")));
}

}  // namespace
}  // namespace overlaptune
