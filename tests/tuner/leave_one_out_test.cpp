// Predictions for problems that the model does not know.

#include "tuner/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "core/config/strategies.hpp"
#include "core/statistics.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuner/counting_machine.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {
namespace {

class LeaveOneOutTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TemporaryFolder folder;
    Store store(folder / "tuned.db", Access::create);
    CountingMachine machine;
    std::vector<Problem> problems;
    for (const std::int64_t m : {1024, 2048, 4096, 8192}) {
      problems.push_back({Op::gemm_all_reduce, m, 8192, 3584, Elements::bf16, 8});
    }
    TuneOptions options{.top_k = 4, .explore = 2, .probes = ProbeDepth::quick, .layer_rounds = 1};
    const auto report = tune(machine, store, problems, options,
                             [](std::size_t, std::size_t, std::string_view) { return true; });
    ASSERT_TRUE(report) << report.error().message;
    const StoredPlatform platform = store.platforms().front();
    results_ = {.platform = platform.platform,
                .measurements = store.measurements(platform.id),
                .candidates = store.all_candidates()};
  }
  [[nodiscard]] static std::vector<StoredCandidate> of(std::int64_t m,
                                                       std::vector<StoredCandidate> rows) {
    std::erase_if(rows, [&](const auto& row) { return row.candidate.problem.m != m; });
    return rows;
  }
  [[nodiscard]] static LeftOut left_out(const PlatformResults& results, Learning learning) {
    return value_or_throw(leave_one_out(results, learning));
  }

  inline static PlatformResults results_{};
};

TEST_F(LeaveOneOutTest, a_problem_does_not_know_its_own_times) {
  // Whatever its own candidates and probes took, the prediction stays.
  PlatformResults changed = results_;
  for (StoredCandidate& row : changed.candidates) {
    if (row.candidate.problem.m == 4096) row.candidate.measured->median *= 3;
  }
  for (Measurement& measurement : changed.measurements) {
    const auto* gemm = std::get_if<GemmProbe>(&measurement.probe);
    if (gemm != nullptr && gemm->m == 4096 && gemm->n == 8192 && gemm->k == 3584) {
      measurement.time.median *= 3;
    }
  }
  for (const Learning learning : {Learning::off, Learning::on}) {
    const auto before = of(4096, left_out(results_, learning).candidates);
    const auto after = of(4096, left_out(changed, learning).candidates);
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].candidate.predicted, after[i].candidate.predicted);
    }
  }
}

TEST_F(LeaveOneOutTest, others_teach_it_unless_learning_is_off) {
  PlatformResults slower = results_;
  for (StoredCandidate& row : slower.candidates) {
    if (row.candidate.problem.m != 4096) row.candidate.measured->median *= 1.25;
  }
  const auto ratio = [&](Learning learning) {
    const auto before = of(4096, left_out(results_, learning).candidates);
    const auto after = of(4096, left_out(slower, learning).candidates);
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      sum += std::log(after[i].candidate.predicted / before[i].candidate.predicted);
    }
    return std::exp(sum / static_cast<double>(before.size()));
  };
  EXPECT_EQ(ratio(Learning::off), 1);
  EXPECT_NEAR(ratio(Learning::on), 1.25, 0.06);
}

/// By hand: two answers leave `sequential`, one of them for the worse; one stays, and one more
/// could.
TEST(LeftOutChoices, are_summed_up) {
  const std::vector<LeftOutChoice> choices{
      {.over_sequential = 0.8, .over_best = 1.1},   {.over_sequential = 1.05, .over_best = 1.2},
      {.over_sequential = 1.02, .over_best = 1.02},  // noise
      {.is_sequential = true, .over_best = 1.06},   {.is_sequential = true, .over_best = 1},
  };
  const ChoiceSummary summary = summary_of(choices);
  EXPECT_EQ(summary.left, 3);
  EXPECT_EQ(summary.slower, 1);
  EXPECT_NEAR(summary.most_slower, 0.05, 1e-12);
  EXPECT_EQ(summary.stayed, 2);
  EXPECT_NEAR(summary.stayed_loss, 0.03, 1e-12);
  EXPECT_EQ(summary_of({}).stayed_loss, 0);
}

/// Where all that was tried takes half of the time of `sequential`, no answer stays with it.
TEST_F(LeaveOneOutTest, choices_follow_what_others_took) {
  PlatformResults faster = results_;
  for (StoredCandidate& row : faster.candidates) {
    if (strategy_of(row.candidate.config) == kBaseline) continue;
    row.candidate.measured->median *= 0.5;
    row.candidate.speedup = Candidate::Speedup{2, 2, 2};
  }
  const auto choices = left_out(faster, Learning::on).choices;
  ASSERT_EQ(choices.size(), 4U);
  for (const LeftOutChoice& choice : choices) {
    EXPECT_FALSE(choice.is_sequential);
    EXPECT_NEAR(choice.over_sequential, 0.5, 1e-9);
    EXPECT_NEAR(choice.over_best, 1, 1e-9);
  }
}

TEST_F(LeaveOneOutTest, candidates_are_ranked_by_what_is_predicted_now) {
  const LeftOut left = left_out(results_, Learning::on);
  EXPECT_EQ(left.candidates.size(), results_.candidates.size());
  for (const std::int64_t m : {1024, 2048, 4096, 8192}) {
    auto rows = of(m, left.candidates);
    std::erase_if(rows, [](const auto& row) { return !row.candidate.rank_by_model; });
    ASSERT_FALSE(rows.empty());
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return *a.candidate.rank_by_model < *b.candidate.rank_by_model;
    });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].candidate.rank_by_model, static_cast<int>(i));
      EXPECT_NE(rows[i].candidate.origin, Origin::explore);
      if (i == 0) continue;
      EXPECT_GE(rows[i].candidate.predicted, rows[i - 1].candidate.predicted);
    }
  }
}

}  // namespace
}  // namespace overlaptune
