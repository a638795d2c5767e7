// `Store::prune` and `Store::remove`: what goes, and that all the rest stays as it was.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

class RemovalTest : public testing::Test {
 protected:
  /// All that answers and predictions are made from, but for candidates.
  [[nodiscard]] static samples::Content in_use(const Store& store) {
    auto all = samples::content(store);
    all.candidates.clear();
    return all;
  }
  static void expect_sound(const Store& store) {
    EXPECT_TRUE(store.check().empty()) << store.check().front();
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "f.db";
  Store store_{file_, Access::create};
};

TEST_F(RemovalTest, runs_that_later_ones_repeat_are_pruned_and_nothing_is_missed) {
  samples::fill(store_, 5, 40);
  const auto once = store_.info();
  samples::fill(store_, 5, 40);  // all again, on the same platforms
  const auto before = in_use(store_);
  const auto gone = store_.prune({.keep = 0});
  EXPECT_EQ(gone.size(), 4U);
  for (const RunBrief& run : gone) EXPECT_FALSE(run.needed);
  EXPECT_EQ(in_use(store_), before);
  EXPECT_EQ(store_.info().candidates, once.candidates);
  EXPECT_EQ(store_.info().measurements, once.measurements);
  EXPECT_TRUE(store_.prune({.keep = 0}).empty());
  expect_sound(store_);
  expect_sound(Store(file_, Access::read));
}

TEST_F(RemovalTest, runs_are_listed_with_their_rows_and_whether_they_ended) {
  samples::Generator draw(6);
  const auto platform = store_.add_platform(draw.platform());
  const auto probes = store_.begin_probe_run(platform, {});
  store_.add_measurement(probes, draw.measurement());
  store_.finish_probe_run(probes);
  store_.put_winner(store_.begin_tuning_run(platform, "stopped", {}), draw.winner());
  const auto runs = store_.runs();
  ASSERT_EQ(runs.size(), 2U);
  for (const RunBrief& run : runs) {
    EXPECT_EQ(run.platform, platform);
    EXPECT_EQ(run.finished, !run.tuning);
    EXPECT_EQ(run.rows, 1);
    EXPECT_EQ(run.winners, run.tuning ? 1 : 0);
    EXPECT_TRUE(run.needed);
  }
  EXPECT_FALSE(runs[0].tuning);
  EXPECT_TRUE(runs[1].tuning);
}

TEST_F(RemovalTest, a_run_with_one_winner_that_is_left_stays) {
  samples::Generator draw(7);
  const auto platform = store_.add_platform(draw.platform());
  const Winner first = draw.winner();
  const Winner second = draw.winner();
  const auto older = store_.begin_tuning_run(platform, "older", {});
  for (const Winner& winner : {first, second}) store_.put_winner(older, winner);
  const auto newer = store_.begin_tuning_run(platform, "newer", {});
  store_.put_winner(newer, first);
  EXPECT_TRUE(store_.prune({.keep = 0}).empty());
  store_.put_winner(newer, second);
  const auto gone = store_.prune({.keep = 0});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone.front().rows, 2);
  EXPECT_EQ(store_.last_tuning_run(platform)->request, "newer");
  EXPECT_EQ(store_.winners().size(), 2U);
  expect_sound(store_);
}

TEST_F(RemovalTest, both_rules_must_hold_and_kinds_and_platforms_count_apart) {
  samples::Generator draw(8);
  const Measurement measurement = draw.measurement();
  for (int p = 0; p < 2; ++p) {
    const auto platform = store_.add_platform(draw.platform());
    for (int day = 1; day <= 4; ++day) {
      const Provenance at{.started_at = fmt::format("2026-01-0{}T12:00:00.000Z", day)};
      store_.add_measurement(store_.begin_probe_run(platform, at), measurement);
      store_.begin_tuning_run(platform, "nothing found", at);
    }
  }
  const auto pruned = [&](const PruneRule& rule) { return store_.in_memory().prune(rule).size(); };
  // Each platform may lose probe runs of three days, whose measurement is not the newest, and four
  // tuning runs.
  EXPECT_EQ(pruned({.keep = 0}), 2U * 7);
  EXPECT_EQ(pruned({.keep = 1}), 2U * 6);
  EXPECT_EQ(pruned({.keep = 3}), 2U * 2);
  EXPECT_EQ(pruned({.before = "2026-01-03"}), 2U * 4);
  EXPECT_EQ(pruned({.before = "2026-01-03", .keep = 3}), 2U * 2);
  EXPECT_EQ(pruned({.before = "2026-01-01"}), 0U);
  EXPECT_EQ(store_.runs().size(), 2U * 8);  // all that was in memory
}

TEST_F(RemovalTest, a_platform_goes_with_all_its_rows_and_no_others) {
  samples::fill(store_, 9, 24);
  const auto platforms = store_.platforms();
  const auto before = in_use(store_);
  const auto all_winners = store_.winners();
  const auto done = value_or_throw(store_.remove({.platform = platforms[0].id}));
  EXPECT_THAT(done.actions, testing::Contains("platforms: 1 removed, 1 left"));
  ASSERT_EQ(store_.platforms().size(), 1U);
  EXPECT_EQ(store_.platforms()[0].platform, platforms[1].platform);
  EXPECT_EQ(store_.measurements(platforms[1].id), before.measurements[1]);
  EXPECT_EQ(store_.layer_gemms(platforms[1].id), before.layer_gemms[1]);
  const auto others = std::count_if(all_winners.begin(), all_winners.end(), [&](const auto& row) {
    return row.platform == platforms[1].id;
  });
  EXPECT_EQ(std::ssize(store_.winners()), others);
  for (const StoredWinner& row : store_.winners()) EXPECT_EQ(row.platform, platforms[1].id);
  expect_sound(store_);
  const Store copy(done.copy, Access::read);
  EXPECT_EQ(in_use(copy), before);
  expect_sound(copy);
}

TEST_F(RemovalTest, a_problem_goes_from_every_platform) {
  samples::fill(store_, 10, 24);
  const auto before = store_.winners();
  const Problem problem = before.front().winner.candidate.problem;
  ASSERT_TRUE(store_.remove({.problem = problem}));
  std::size_t kept = 0;
  for (const StoredWinner& row : before) {
    const Candidate& old = row.winner.candidate;
    const auto now = store_.winner(row.platform, old.problem, old.launch);
    EXPECT_EQ(now.has_value(), old.problem != problem);
    if (!now) continue;
    EXPECT_EQ(now->winner, row.winner);
    ++kept;
  }
  EXPECT_LT(kept, before.size());
  for (const auto& row : store_.all_candidates()) EXPECT_NE(row.candidate.problem, problem);
  expect_sound(store_);
}

TEST_F(RemovalTest, what_is_not_there_is_told_and_nothing_changes) {
  samples::fill(store_, 11, 8);
  const auto before = samples::content(store_);
  const auto run = store_.remove({.run = "no uid"});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("run 'no uid': not stored"));
  const auto problem = store_.remove({.problem = Problem{Op::gemm_all_reduce, 8, 8, 8}});
  ASSERT_FALSE(problem);
  EXPECT_THAT(problem.error().message, HasSubstr("not stored"));
  EXPECT_EQ(samples::content(store_), before);
  const std::string uid = store_.runs().front().uid;
  EXPECT_TRUE(store_.remove({.run = uid}));
  EXPECT_FALSE(store_.remove({.run = uid}));
  expect_sound(store_);
}

}  // namespace
}  // namespace overlaptune
