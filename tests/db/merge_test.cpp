#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/impl.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Generator;

class MergeTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Store here_{folder_ / "here.db", Access::create};
  Store there_{folder_ / "there.db", Access::create};
};

TEST_F(MergeTest, AnEmptyDatabaseBecomesACopy) {
  samples::fill(there_, 4, 40);
  here_.merge(there_);
  EXPECT_EQ(samples::content(here_), samples::content(there_));
  EXPECT_EQ(here_.info().candidates, there_.info().candidates);
  EXPECT_TRUE(here_.check().empty());
}

TEST_F(MergeTest, MergingAgainOrWithItselfChangesNothing) {
  samples::fill(here_, 3, 20);
  samples::fill(there_, 4, 40);
  here_.merge(there_);
  const auto once = samples::content(here_);
  here_.merge(there_);
  here_.merge(here_);
  here_.merge(Store(folder_ / "here.db", Access::read));
  EXPECT_EQ(samples::content(here_), once);
  EXPECT_EQ(here_.info().tuning_runs, 4);
  EXPECT_EQ(here_.info().probe_runs, 4);
  there_.merge(here_);
  EXPECT_EQ(there_.info().candidates, here_.info().candidates);
  EXPECT_EQ(there_.info().platforms, 4);
}

TEST_F(MergeTest, AnEqualPlatformIsTheSameAndItsRunsAreKeptApart) {
  Generator draw(8);
  const auto platform = draw.platform();
  const auto candidate = draw.candidate();
  const auto provenance = draw.provenance();  // equal in both: two nodes started by one command
  there_.add_platform(draw.platform());       // shifts the ids
  for (Store* store : {&here_, &there_}) {
    const auto run = store->begin_tuning_run(store->add_platform(platform), "request", provenance);
    store->add_candidate(run, candidate);
  }
  here_.merge(there_);
  EXPECT_EQ(here_.info().platforms, 2);
  EXPECT_EQ(here_.info().tuning_runs, 2);
  EXPECT_EQ(here_.info().candidates, 2);
  EXPECT_EQ(here_.info().problems, 1);
}

TEST_F(MergeTest, TheNewerWinnerStaysWhicheverWayIsMerged) {
  Generator draw(8);
  const auto platform = draw.platform();
  Winner winner = draw.winner();
  const Candidate key = winner.candidate;
  const auto put = [&](Store& store, double sequential) {
    const auto run =
        store.begin_tuning_run(store.add_platform(platform), "request", draw.provenance());
    winner.sequential = us(sequential);
    winner.overlap_fraction = sequential / 4;
    store.put_winner(run, winner);
    usleep(3000);  // times of winners are in milliseconds
  };
  put(here_, 1);
  put(there_, 2);
  Store third(folder_ / "third.db", Access::create);
  third.merge(there_);
  third.merge(here_);  // an older one
  here_.merge(there_);
  for (const Store* store : {&here_, &third}) {
    const auto id = store->platform("")->id;
    EXPECT_EQ(store->winner(id, key.problem, key.launch)->winner.sequential, us(2));
    EXPECT_EQ(store->winner(id, key.problem, key.launch)->winner.overlap_fraction, 0.5);
    EXPECT_EQ(store->winners().size(), 1U);
  }
}

TEST_F(MergeTest, AWinnerStaysWithItsPlatform) {
  Generator draw(8);
  const Winner winner = draw.winner();
  const auto platform = draw.platform();
  here_.add_platform(draw.platform());  // has the id there that `platform` has here
  const auto run =
      there_.begin_tuning_run(there_.add_platform(platform), "request", draw.provenance());
  there_.put_winner(run, winner);
  here_.merge(there_);
  const auto winners = here_.winners();
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(winners.front().platform, here_.platform(fingerprint(platform))->id);
  EXPECT_EQ(winners.front().winner.candidate, winner.candidate);
}

TEST_F(MergeTest, WhatTheProblemsOfARunAreComesWithTheRun) {
  Generator draw(9);
  const auto platform = draw.platform();
  there_.add_platform(draw.platform());  // shifts the ids
  const auto run =
      there_.begin_tuning_run(there_.add_platform(platform), "request", draw.provenance());
  const std::vector<LayerGemm> gemms{draw.layer_gemm(), draw.layer_gemm()};
  here_.merge(there_);  // before they are known
  there_.add_layer_gemms(run, gemms);
  for (int i = 0; i < 2; ++i) here_.merge(there_);
  EXPECT_EQ(here_.layer_gemms(here_.add_platform(platform)), gemms);
  EXPECT_EQ(here_.info().layer_gemms, 2);
  EXPECT_TRUE(here_.check().empty());
}

TEST_F(MergeTest, WhatThePhasesOfARunFoundComesWithTheRunAndReplacesNothing) {
  Generator draw(9);
  const auto platform = draw.platform();
  there_.add_platform(draw.platform());  // shifts the ids
  const auto run =
      there_.begin_tuning_run(there_.add_platform(platform), "request", draw.provenance());
  const std::vector<PhaseResult> results{draw.phase_result(), draw.phase_result()};
  there_.add_phase_results(run, results);
  here_.merge(there_);
  PhaseResult later = results[0];
  later.sequential = us(7);
  there_.add_phase_results(run, std::vector{later, draw.phase_result()});
  here_.merge(there_);
  const auto here =
      here_.phase_results(here_.last_tuning_run(here_.platform(fingerprint(platform))->id)->id);
  ASSERT_EQ(here.size(), 3U);
  EXPECT_EQ(here[0], results[0]);
  EXPECT_EQ(here[1], results[1]);
  EXPECT_TRUE(here_.check().empty());
}

TEST_F(MergeTest, ARunContinuedElsewhereIsOneRun) {
  Generator draw(8);
  const auto run =
      here_.begin_tuning_run(here_.add_platform(draw.platform()), "request", draw.provenance());
  const auto shared = draw.candidate();
  here_.add_candidate(run, shared);
  there_.merge(here_);
  const auto there_run = there_.last_tuning_run(there_.platform("")->id)->id;
  auto other_result = shared;
  other_result.predicted = us(77);
  there_.add_candidate(there_run, other_result);
  const auto more = draw.candidate();
  there_.add_candidate(there_run, more);
  there_.finish_tuning_run(there_run);
  here_.merge(there_);
  EXPECT_EQ(here_.info().tuning_runs, 1);
  const auto all = here_.all_candidates();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].candidate, shared);  // what is here already stays
  EXPECT_EQ(all[1].candidate, more);
  EXPECT_TRUE(here_.last_tuning_run(here_.platform("")->id)->finished);
}

TEST_F(MergeTest, RunsOfAMergeKeepTheirOrderAndComeBehindOlderOnes) {
  Generator draw(8);
  const auto platform = draw.platform();
  Measurement measurement = draw.measurement();
  // A probe run on this day of January, which measured as many microseconds.
  const auto probed = [&](Store& store, int day) {
    const Provenance at{.started_at = fmt::format("2026-01-{:02}T12:00:00.000Z", day)};
    measurement.time = {us(day), us(day), us(day), 1};
    store.add_measurement(store.begin_probe_run(store.add_platform(platform), at), measurement);
  };
  const auto in_use = [&](const Store& store) {
    return store.measurements(store.platform(fingerprint(platform))->id).front().time.median;
  };
  const auto days = [&](const Store& store) {
    std::string list;
    for (const RunBrief& run : store.runs()) list += run.started_at.substr(8, 2) + " ";
    return list;
  };
  for (const int day : {20, 7}) probed(here_, day);  // the clock was ahead
  for (const int day : {1, 3, 2}) probed(there_, day);
  there_.add_platform(draw.platform());
  Store both_ways(folder_ / "third.db", Access::create);
  for (const Store* store : {&there_, &here_, &there_}) both_ways.merge(*store);
  here_.merge(there_);
  EXPECT_EQ(days(here_), "01 03 02 20 07 ");
  EXPECT_EQ(days(both_ways), days(here_));
  EXPECT_EQ(in_use(here_), us(7));
  EXPECT_EQ(in_use(both_ways), us(7));
  probed(there_, 9);
  here_.merge(there_);
  EXPECT_EQ(days(here_), "01 03 02 20 07 09 ");
  EXPECT_EQ(in_use(here_), us(9));
  EXPECT_TRUE(here_.check().empty());
  std::stringstream document;
  export_json(here_, document);
  Store imported(folder_ / "imported.db", Access::create);
  ASSERT_TRUE(import_json(imported, document));
  EXPECT_EQ(days(imported), days(here_));
}

/// A copy was probed further on a host whose clock is behind, and another one had a clock that was
/// ahead. What both files have tells the order all the same.
TEST_F(MergeTest, RunsThatBothFilesHaveTellTheOrderWhateverTheClocksSay) {
  Generator draw(8);
  const auto platform = draw.platform();
  Measurement measurement = draw.measurement();
  const auto probed = [&](Store& store, int day) {
    const Provenance at{.started_at = fmt::format("2026-01-{:02}T12:00:00.000Z", day)};
    measurement.time = {us(day), us(day), us(day), 1};
    store.add_measurement(store.begin_probe_run(store.add_platform(platform), at), measurement);
  };
  const auto days = [](const Store& store) {
    std::string list;
    for (const RunBrief& run : store.runs()) list += run.started_at.substr(8, 2) + " ";
    return list;
  };
  const auto in_use = [&](const Store& store) {
    return store.measurements(store.platform(fingerprint(platform))->id).front().time.median;
  };
  probed(here_, 20);
  Store copy(folder_ / "copy.db", Access::create);
  copy.merge(here_);
  probed(copy, 5);
  here_.merge(copy);
  EXPECT_EQ(days(here_), "20 05 ");
  EXPECT_EQ(in_use(here_), us(5));

  probed(there_, 18);  // older than the run of day 20, which it then gets
  there_.merge(copy);
  EXPECT_EQ(days(there_), "18 20 05 ");
  here_.merge(there_);
  EXPECT_EQ(days(here_), "18 20 05 ");
  EXPECT_EQ(in_use(here_), us(5));
  EXPECT_TRUE(here_.check().empty());
}

TEST_F(MergeTest, AMergeFromADamagedDatabaseChangesNothing) {
  samples::fill(here_, 3, 20);
  const auto before = samples::content(here_);
  const auto file = folder_ / "broken.db";
  {
    Store broken(file, Access::create);
    samples::fill(broken, 4, 400);
  }
  std::string bytes = samples::read_bytes(file);
  // Winners are written last: the middle pages hold candidates.
  std::fill(bytes.begin() + 200'000, bytes.begin() + 230'000, 'x');
  samples::write_bytes(file, bytes);
  const Store broken(file, Access::read);
  ASSERT_FALSE(broken.check().empty());
  samples::failure(ErrorKind::bad_database, [&] { here_.merge(broken); });
  EXPECT_EQ(samples::content(here_), before);
  EXPECT_TRUE(here_.check().empty());
}

class TwoNodes : public MergeTest {
 protected:
  TwoNodes() {
    for (Store* store : {&here_, &there_}) {
      const auto run = store->begin_tuning_run(store->add_platform(platform_), "request", {});
      runs_.push_back(run);
    }
  }

  /// Puts a winner of the same problem, with this time, as if validated then.
  void put(std::size_t node, double time, const std::string& validated_at) {
    Store& store = node == 0 ? here_ : there_;
    Winner winner = winner_;
    winner.candidate.measured = Summary{us(time), us(time), us(time), 9};
    winner.candidate.config = samples::numbered_config(static_cast<int>(time));
    store.impl().connection->write([&] {
      store.impl().insert_winner({1, runs_.at(node), validated_at, winner}, db::Conflict::replace);
    });
  }

  [[nodiscard]] static Microseconds time_of_winner(const Store& store) {
    const auto all = store.winners();
    return all.size() == 1 ? all[0].winner.candidate.measured->median : us(0);
  }

  Generator draw_{8};
  const Platform platform_ = draw_.platform();
  const Winner winner_{
      .candidate = {.problem = {Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 4}},
      .sequential = us(100)};
  std::vector<TuningRunId> runs_;
};

TEST_F(TwoNodes, AWinnerFromTheFutureIsComplainedOfAndLoses) {
  put(0, 20, "2026-02-02T00:00:00.000Z");
  put(1, 10, "2999-01-01T00:00:00.000Z");
  Store third(folder_ / "third.db", Access::create);
  EXPECT_EQ(third.merge(there_).size(), 1U);
  EXPECT_EQ(time_of_winner(third), us(10));  // better than none
  EXPECT_EQ(third.check().size(), 1U);
  third.merge(here_);
  const auto complaints = here_.merge(there_);
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("ahead of this machine's clock"), std::string::npos);
  for (const Store* store : {&here_, &third}) {
    EXPECT_EQ(time_of_winner(*store), us(20));
    EXPECT_TRUE(store->check().empty()) << store->check().front();
  }
}

TEST_F(TwoNodes, OfTwoWithTheSameTimeTheFasterStaysWhicheverWayIsMerged) {
  put(0, 20, "2026-02-02T00:00:00.000Z");
  put(1, 10, "2026-02-02T00:00:00.000Z");
  Store third(folder_ / "third.db", Access::create);
  third.merge(there_);
  third.merge(here_);
  here_.merge(there_);
  EXPECT_EQ(time_of_winner(here_), us(10));
  EXPECT_EQ(time_of_winner(third), us(10));
}

TEST_F(TwoNodes, ADamagedWinnerLosesToASoundOlderOne) {
  put(0, 20, "2026-02-03T00:00:00.000Z");
  put(1, 10, "2026-02-02T00:00:00.000Z");
  here_.impl().connection->execute("UPDATE winners SET validated_at = '2026-09-09T00:00:00.000Z'");
  here_.merge(there_);
  EXPECT_EQ(time_of_winner(here_), us(10));
  EXPECT_TRUE(here_.check().empty());
}

TEST_F(TwoNodes, AnUnsoundWinnerIsRefusedAndChangesNothing) {
  put(0, 20, "2026-02-02T00:00:00.000Z");
  put(1, 10, "2026-02-03T00:00:00.000Z");
  for (const std::string change :
       {"measured_median_us = measured_median_us / 2, measured_p10_us = 0", "sequential_us = 0",
        "validated_at = 'now'", "predicted_us = 1e40",
        "config = 'sequential ctas=1 transport=ring'"}) {
    Store bad(folder_ / "bad.db", Access::create);
    bad.merge(there_);
    bad.impl().connection->execute("UPDATE winners SET " + change);
    const auto before = samples::content(here_);
    samples::failure(ErrorKind::bad_database, [&] { here_.merge(bad); });
    EXPECT_EQ(samples::content(here_), before) << change;
  }
}

TEST_F(TwoNodes, TheCandidateOfAWinnerComesWithIt) {
  put(0, 20, "2026-02-02T00:00:00.000Z");
  there_.merge(here_);
  Candidate other = here_.all_candidates().at(0).candidate;
  other.predicted = us(5);
  here_.add_candidate(runs_[0], other);  // the run went on here, with another model
  put(0, 20, "2026-02-01T00:00:00.000Z");
  here_.add_candidate(runs_[0], other);
  here_.merge(there_);
  EXPECT_TRUE(here_.check().empty()) << here_.check().front();
}

}  // namespace
}  // namespace overlaptune
