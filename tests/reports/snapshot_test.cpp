#include "reports/snapshot.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report.hpp"
#include "tests/db/samples.hpp"
#include "tests/reports/rows.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

/// Two platforms of one name, with drivers of their own, and another one.
Snapshot three() {
  Snapshot snapshot = rows::snapshot({rows::winner(125)});
  Platform other = rows::platform();
  snapshot.platforms.push_back({.stored = {.id = 2, .platform = rows::platform("580.2")}});
  other.name = "other";
  snapshot.platforms.push_back({.stored = {.id = 3, .platform = other}});
  return snapshot;
}

TEST(Snapshot, platforms_of_one_name_are_told_apart_by_their_fingerprints) {
  const Snapshot snapshot = three();
  EXPECT_EQ(snapshot.platform_name(1), "sim:eight (" + fingerprint(rows::platform()) + ")");
  EXPECT_EQ(snapshot.platform_name(2), "sim:eight (" + fingerprint(rows::platform("580.2")) + ")");
  EXPECT_EQ(snapshot.platform_name(3), "sim:other");
  EXPECT_EQ(snapshot.fingerprint_of(2), fingerprint(rows::platform("580.2")));
}

TEST(Snapshot, an_anonymous_one_names_no_host) {
  Snapshot snapshot = three();
  snapshot.platforms[0].last_run =
      TuningRun{.provenance = {.host = "node17", .command_line = "tune --db /home/ann/f.db"}};
  StoredCandidate failed{.platform = 1};
  failed.candidate.verdict = Verdict::crashed;
  failed.candidate.reason = "rank 1 on node17: illegal address";
  snapshot.candidates = {failed, {.platform = 1}};
  make_anonymous(snapshot);
  EXPECT_EQ(snapshot.platforms[0].last_run->provenance.host, "(not shown)");
  EXPECT_EQ(snapshot.platforms[0].last_run->provenance.command_line, "(not shown)");
  EXPECT_EQ(snapshot.candidates[0].candidate.reason, "(not shown)");
  EXPECT_EQ(snapshot.candidates[0].candidate.verdict, Verdict::crashed);
  EXPECT_EQ(snapshot.candidates[1].candidate.reason, "");
}

TEST(Snapshot, what_is_not_there_has_no_name_and_no_products) {
  const Snapshot snapshot = three();
  EXPECT_EQ(snapshot.platform_name(9), "?");
  EXPECT_EQ(snapshot.fingerprint_of(9), "?");
  EXPECT_TRUE(snapshot.products(9, rows::kProblem).empty());
}

TEST(Snapshot, products_are_those_of_the_problem_on_the_platform) {
  Snapshot snapshot = three();
  Problem other = rows::kProblem;
  other.k = 512;
  snapshot.platforms[1].layer_gemms = {{.model = "wide", .problem = other},
                                       {.model = "tall", .problem = rows::kProblem}};
  EXPECT_TRUE(snapshot.products(1, rows::kProblem).empty());
  ASSERT_EQ(snapshot.products(2, rows::kProblem).size(), 1U);
  EXPECT_EQ(snapshot.products(2, rows::kProblem).front().model, "tall");
}

TEST(Snapshot, has_all_that_a_store_has) {
  const TemporaryFolder folder;
  Store store(folder / "all.db", Access::create);
  samples::fill(store, 3, 24);
  const samples::Content content = samples::content(store);
  const Snapshot snapshot = take_snapshot(store);
  ASSERT_EQ(snapshot.platforms.size(), content.platforms.size());
  for (std::size_t i = 0; i < snapshot.platforms.size(); ++i) {
    const PlatformRecord& record = snapshot.platforms[i];
    EXPECT_EQ(record.stored.platform, content.platforms[i]);
    EXPECT_EQ(record.measurements, content.measurements[i]);
    EXPECT_EQ(record.layer_gemms, content.layer_gemms[i]);
    EXPECT_TRUE(record.last_run);
  }
  EXPECT_FALSE(snapshot.winners.empty());
  EXPECT_EQ(snapshot.winners.size(), store.winners().size());
  EXPECT_FALSE(snapshot.candidates.empty());
  EXPECT_EQ(snapshot.candidates.size(), store.all_candidates().size());
}

TEST(Summary, each_platform_has_its_own_winners) {
  Snapshot snapshot = three();
  Problem larger = rows::kProblem;
  larger.m *= 2;
  snapshot.winners.push_back(rows::winner(100, 1, rows::kProblem, 3));
  snapshot.winners.push_back(rows::winner(25, 1, larger, 3));
  const std::string text = summary(snapshot);
  // Beside 200 us: 125; then none; then 100 and 25, whose speedups of 2 and 8 have a mean of 4.
  EXPECT_THAT(text, HasSubstr("driver 570.1, CUDA , NCCL , NVLink multicast"));
  EXPECT_THAT(text, HasSubstr(": 1 winner, 1.60 times as fast as sequential in the geometric "));
  EXPECT_THAT(text, HasSubstr("driver 580.2"));
  EXPECT_THAT(text, HasSubstr(": no winners\n"));
  EXPECT_THAT(text, HasSubstr(": 2 winners, 4.00 times as fast as sequential in the geometric "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

}  // namespace
}  // namespace overlaptune
