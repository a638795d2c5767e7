#include "tuner/judge.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuner/captured_log.hpp"
#include "tests/tuner/scripted_machine.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;

const Problem kJudged{Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 8};

const std::string kSequentialLine = line("sequential");

std::string chunks(int count) {
  return line("chunked ctas=8 transport=ring chunks=" + std::to_string(count));
}

Candidate candidate(const std::string& config, Origin origin = Origin::shortlist) {
  return {.problem = kJudged,
          .config = value_or_throw(parse_config(config)),
          .origin = origin,
          .predicted = us(90)};
}

/// Candidates in the order of a list.
class ListedCandidates : public CandidateSource {
 public:
  explicit ListedCandidates(std::vector<Candidate> list) : list_(std::move(list)) {}
  [[nodiscard]] std::vector<Candidate> likely() const override {
    return {list_.begin(),
            list_.begin() + std::min<std::ptrdiff_t>(most_likely, std::ssize(list_))};
  }
  [[nodiscard]] std::optional<Candidate> next() override {
    if (next_ == list_.size()) return std::nullopt;
    return list_[next_++];
  }
  void judged(const Candidate& candidate) override { noted.push_back(candidate); }

  std::vector<Candidate> noted{};
  std::ptrdiff_t most_likely = 1000;  ///< candidates that are known from the start on

 private:
  std::vector<Candidate> list_;
  std::size_t next_ = 0;
};

struct JudgeTest : testing::Test {
  [[nodiscard]] Expected<JudgedProblem> judged() { return judged(monitor); }
  [[nodiscard]] Expected<JudgedProblem> judged(RunMonitor& watching) {
    ListedCandidates source(proposed);
    auto outcome = judge(machine, store, run, source, watching);
    noted = source.noted;
    return outcome;
  }
  /// Configs as lines, in their order.
  static std::vector<std::string> lines(const std::vector<Candidate>& candidates) {
    std::vector<std::string> found;
    for (const Candidate& each : candidates) found.push_back(to_string(each.config));
    return found;
  }
  [[nodiscard]] std::vector<std::string> run_lines() const {
    std::vector<std::string> found;
    for (const auto& each : machine.runs) found.push_back(each.config);
    return found;
  }
  [[nodiscard]] std::vector<Candidate> stored() const {
    return store.candidates(run, kJudged, Launch::graph);
  }

  TemporaryFolder folder{};
  Store store{folder / "judged.db", Access::create};
  ScriptedMachine machine{};
  TuningRunId run = store.begin_tuning_run(store.add_platform(machine.platform()), "test", {});
  std::size_t most = 1000;  ///< candidates before the run is to stop
  Progress progress = [this](std::size_t done, std::size_t, std::string_view) {
    return done < most;
  };
  RunMonitor monitor{progress};
  std::vector<Candidate> noted{};  ///< the results that the source was told
  std::vector<Candidate> proposed{candidate(kSequentialLine, Origin::baseline),
                                  candidate(chunks(2)), candidate(chunks(4)), candidate(chunks(8))};
};

TEST_F(JudgeTest, each_result_is_stored_before_the_next_candidate_runs) {
  machine.times = {{chunks(2), 80}, {chunks(4), 125}};
  std::vector<std::size_t> stored_before;
  machine.before_result = [&](const auto&) { stored_before.push_back(stored().size()); };
  const auto all = judged();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(run_lines(), ElementsAre(kSequentialLine, chunks(2), chunks(4), chunks(8)));
  EXPECT_THAT(stored_before, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_TRUE(all->finished);
  EXPECT_EQ(all->measured, 4);
  EXPECT_EQ(all->resumed, 0);
  EXPECT_EQ(all->failed, 0);
  ASSERT_EQ(lines(all->candidates), lines(proposed));
  EXPECT_EQ(all->candidates[1].measured->median, us(80));
  EXPECT_DOUBLE_EQ(all->candidates[1].speedup->median, 1.25);  // `sequential` takes 100 us
  EXPECT_DOUBLE_EQ(all->candidates[2].speedup->median, 0.8);
  EXPECT_EQ(stored(), all->candidates);
  EXPECT_EQ(noted, all->candidates);
}

TEST_F(JudgeTest, kernels_are_compiled_once_and_before_they_run) {
  const std::string wide = "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=8 ";
  const std::string narrow = "signaled tile=128x128x64 stages=4 cluster=2 swizzle=8 ctas=8 ";
  proposed = {candidate(kSequentialLine, Origin::baseline), candidate(wide + "groups=256,768"),
              candidate(wide + "groups=512,512"), candidate(narrow + "groups=1024,1024")};
  const auto compiled_before_runs = [&](std::ptrdiff_t likely) {
    std::vector<std::size_t> compiled;
    machine.compiled = 0;
    machine.before_result = [&](const auto&) { compiled.push_back(machine.compiled); };
    ListedCandidates source(proposed);
    source.most_likely = likely;
    const TuningRunId fresh =
        store.begin_tuning_run(store.add_platform(machine.platform()), "", {});
    EXPECT_TRUE(judge(machine, store, fresh, source, monitor));
    return compiled;
  };
  EXPECT_THAT(compiled_before_runs(4), ElementsAre(2U, 2U, 2U, 2U));
  EXPECT_THAT(compiled_before_runs(2), ElementsAre(1U, 1U, 1U, 2U));
  EXPECT_THAT(compiled_before_runs(0), ElementsAre(0U, 1U, 1U, 2U));
}

TEST_F(JudgeTest, a_share_that_is_spent_leaves_sequential_and_a_proposal) {
  RunMonitor::Clock::time_point now{};
  RunMonitor watching(progress, [&] { return now; });
  watching.limit(std::chrono::seconds(100));
  watching.begin_share(2);
  machine.before_result = [&](const auto&) {
    now += std::chrono::seconds(40);
  };  // 50 s are its share
  const auto part = judged(watching);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_THAT(run_lines(), ElementsAre(kSequentialLine, chunks(2)));
  EXPECT_FALSE(part->finished);
  EXPECT_FALSE(watching.stopped());
  // Resumed, it goes on where it was.
  machine.before_result = {};
  machine.runs.clear();
  const auto rest = judged();
  EXPECT_THAT(run_lines(), ElementsAre(chunks(4), chunks(8)));
  EXPECT_TRUE(rest->finished);
}

TEST_F(JudgeTest, what_the_run_has_is_not_measured_again) {
  most = 2;
  const auto first = judged();
  ASSERT_TRUE(first);
  EXPECT_TRUE(monitor.stopped());
  EXPECT_FALSE(first->finished);
  EXPECT_EQ(lines(first->candidates), (std::vector<std::string>{kSequentialLine, chunks(2)}));

  machine.runs.clear();
  machine.times = {{chunks(2), 1}};  // would be seen if it were measured again
  RunMonitor again(progress);
  most = 1000;
  const auto second = judged(again);
  ASSERT_TRUE(second);
  EXPECT_THAT(run_lines(), ElementsAre(chunks(4), chunks(8)));
  EXPECT_EQ(second->resumed, 2);
  EXPECT_EQ(second->measured, 2);
  EXPECT_TRUE(second->finished);
  EXPECT_EQ(lines(second->candidates), lines(proposed));
  EXPECT_EQ(second->candidates[1], first->candidates[1]);
  EXPECT_EQ(noted, second->candidates);  // what was stored teaches too
}

TEST_F(JudgeTest, what_is_not_proposed_any_more_comes_last) {
  ASSERT_TRUE(judged());
  proposed.erase(proposed.begin() + 1);
  const auto fewer = judged();
  ASSERT_TRUE(fewer);
  EXPECT_TRUE(fewer->finished);
  EXPECT_EQ(fewer->resumed, 3);
  EXPECT_THAT(lines(fewer->candidates),
              ElementsAre(kSequentialLine, chunks(4), chunks(8), chunks(2)));
}

TEST_F(JudgeTest, a_failure_costs_the_candidate_only) {
  machine.failures = {{chunks(2), Verdict::wrong}, {chunks(8), Verdict::timeout}};
  const auto all = judged();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->finished);
  EXPECT_EQ(all->measured, 4);
  EXPECT_EQ(all->failed, 2);
  EXPECT_EQ(all->candidates[1].verdict, Verdict::wrong);
  EXPECT_EQ(all->candidates[1].reason, "as the test wants it");
  EXPECT_FALSE(all->candidates[1].measured);
  EXPECT_EQ(all->candidates[2].verdict, Verdict::valid);
  EXPECT_EQ(stored(), all->candidates);
}

TEST_F(JudgeTest, a_problem_without_memory_is_left_out_with_a_warning) {
  machine.refusal = Error{ErrorKind::bad_input, "no memory for it"};
  const CapturedLog log;
  const auto none = judged();
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->candidates.empty());
  EXPECT_FALSE(none->finished);
  EXPECT_FALSE(monitor.stopped());
  EXPECT_EQ(machine.runs.size(), 1U);
  EXPECT_EQ(log.count("left out: no memory for it"), 1) << log.text();
}

TEST_F(JudgeTest, a_lost_machine_is_an_error_and_what_was_measured_stays) {
  machine.before_result = [&](const auto&) {
    if (machine.runs.size() == 3) machine.refusal = Error{ErrorKind::machine_unavailable, "lost"};
  };
  const auto lost = judged();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(lines(stored()), (std::vector<std::string>{kSequentialLine, chunks(2)}));
}

TEST_F(JudgeTest, a_stop_before_the_first_candidate_measures_nothing) {
  most = 0;
  const auto none = judged();
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->candidates.empty());
  EXPECT_TRUE(machine.runs.empty());
}

}  // namespace
}  // namespace overlaptune
