// Configs that are wrong in ways which only some runs show. A GPU is a list of runs here: each one
// reads the state that the runs before it left.

#include "machine/worker/checked_runs.hpp"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

using kernels::Deviation;
using testing::HasSubstr;

constexpr double kAllowed = 0.01;

enum class Result { poisoned, right, wrong };

/// A config on `sets` operand sets. `run_` writes results; it is told the set and how many runs are
/// under way before it.
class Simulated final : public CheckedConfig {
 public:
  using Run = std::function<void(Simulated&, int set, int before)>;

  Simulated(int sets, Run run)
      : results(static_cast<std::size_t>(sets), Result::right), run_(std::move(run)) {}

  [[nodiscard]] int sets() const override { return static_cast<int>(results.size()); }
  void poison(int set) override { at(set) = Result::poisoned; }
  void meet() override { ++meetings; }
  void delay_last_rank(std::chrono::nanoseconds) override { delayed = true; }
  void run(int set) override {
    ++runs;
    run_(*this, set, under_way_++);
  }
  [[nodiscard]] bool ends() override {
    under_way_ = 0;
    delayed = false;
    return !hangs;
  }
  void compare(int set) override {
    looked_at.push_back(set);
    const bool missing = at(set) == Result::poisoned || (ends_early && delayed);
    if (missing) {
      compared_ = worse(compared_, {.not_finite = 7});
    } else {
      compared_ = worse(compared_, {.largest = at(set) == Result::wrong ? 0.5 : 0.001});
    }
  }
  [[nodiscard]] Deviation deviation() override { return std::exchange(compared_, {}); }

  Result& at(int set) { return results[static_cast<std::size_t>(set)]; }

  std::vector<Result> results;
  std::vector<int> looked_at{};
  int runs = 0;
  int meetings = 0;
  bool delayed = false;  ///< one rank is later than the others
  bool hangs = false;
  /// The run of a rank does not wait for the late one, whose data arrive after its comparison.
  bool ends_early = false;

 private:
  Run run_;
  Deviation compared_{};
  int under_way_ = 0;
};

void write_right(Simulated& config, int set, int /*before*/) {
  config.at(set) = Result::right;
}

std::string verdict(const CheckedRuns& runs) {
  return runs.ended ? complaint(runs.worst, kAllowed) : "late";
}

TEST(CheckedRuns, pass_a_config_that_is_right) {
  for (const int sets : {1, 2, 5, 8}) {
    Simulated config(sets, write_right);
    EXPECT_EQ(verdict(check_runs(config)), "") << sets;
    EXPECT_EQ(verdict(check_replays(config)), "") << sets;
  }
}

TEST(CheckedRuns, look_at_every_operand_set) {
  for (const int sets : {1, 2, 5, 8}) {
    for (int bad = 0; bad < sets; ++bad) {
      Simulated config(sets, [&](Simulated& on, int set, int) {
        on.at(set) = set == bad ? Result::wrong : Result::right;
      });
      EXPECT_THAT(verdict(check_runs(config)), HasSubstr("relative error of 0.5"));
      EXPECT_THAT(verdict(check_replays(config)), HasSubstr("relative error of 0.5"));
    }
  }
}

TEST(CheckedRuns, are_at_least_two_one_by_one) {
  Simulated config(1, write_right);
  static_cast<void>(check_runs(config));
  EXPECT_EQ(config.runs, 2);
  Simulated forgets(1, [](Simulated& on, int set, int) {
    if (on.runs == 1) on.at(set) = Result::right;
  });
  EXPECT_THAT(verdict(check_runs(forgets)), HasSubstr("not written"));
}

/// A signal is not reset: a run that begins while another one is under way does not wait, and reads
/// what is in memory before.
TEST(CheckedReplays, find_a_signal_that_is_not_reset) {
  for (const int sets : {2, 5, 8}) {
    Simulated config(sets, [](Simulated& on, int set, int before) {
      if (before == 0 || on.at(set) != Result::poisoned) on.at(set) = Result::right;
    });
    EXPECT_EQ(verdict(check_runs(config)), "") << sets;
    EXPECT_THAT(verdict(check_replays(config)), HasSubstr("not written")) << sets;
  }
}

/// A run finds the data of its own last run in memory, and only there.
TEST(CheckedReplays, are_not_repaired_by_a_later_run_on_the_same_set) {
  Simulated config(2, [](Simulated& on, int set, int before) {
    // Reads a poisoned part too early, in the first run after the timed ones only.
    if (before > 0 || on.meetings != 1) on.at(set) = Result::right;
  });
  EXPECT_EQ(verdict(check_runs(config)), "");
  EXPECT_THAT(verdict(check_replays(config)), HasSubstr("not written"));
}

/// All sets share a buffer. A run overwrites it while a late rank still reads the data of the run
/// before.
TEST(CheckedReplays, find_a_buffer_that_a_fast_rank_overwrites) {
  for (const int sets : {2, 5}) {
    Simulated config(sets, [&](Simulated& on, int set, int before) {
      on.at(set) = Result::right;
      if (before > 0 && on.delayed) on.at((set + on.sets() - 1) % on.sets()) = Result::wrong;
    });
    EXPECT_EQ(verdict(check_runs(config)), "") << sets;
    EXPECT_THAT(verdict(check_replays(config)), HasSubstr("relative error")) << sets;
  }
}

TEST(CheckedReplays, follow_one_another_on_a_single_set_too) {
  Simulated config(1, [](Simulated& on, int set, int before) {
    on.at(set) = before < 3 ? Result::right : Result::wrong;
  });
  EXPECT_EQ(verdict(check_runs(config)), "");
  EXPECT_THAT(verdict(check_replays(config)), HasSubstr("relative error"));
}

/// All ranks have poisoned their memory before one of them runs, and may write into another's.
TEST(CheckedReplays, begin_after_all_ranks_have_met) {
  Simulated config(2, [](Simulated& on, int set, int before) {
    EXPECT_GT(on.meetings, 0) << before;
    on.at(set) = Result::right;
  });
  EXPECT_EQ(verdict(check_replays(config)), "");
  EXPECT_EQ(config.meetings, 2);
}

/// Each run takes as long as a repetition that is timed, and there are at least nine of these.
TEST(CheckedReplays, are_few) {
  for (const auto& [sets, runs] : {std::pair{1, 5}, {2, 6}, {3, 9}, {8, 16}}) {
    Simulated config(sets, write_right);
    static_cast<void>(check_replays(config));
    EXPECT_EQ(config.runs, runs) << sets;
  }
}

TEST(CheckedRuns, end_at_a_run_that_hangs) {
  Simulated config(4, write_right);
  config.hangs = true;
  EXPECT_EQ(verdict(check_runs(config)), "late");
  EXPECT_EQ(config.runs, 1);
  EXPECT_EQ(verdict(check_delayed_runs(config)), "late");
  EXPECT_EQ(verdict(check_replays(config)), "late");
  EXPECT_EQ(config.deviation().largest, 0);  // nothing is left for the next config
}

TEST(CheckedReplays, find_a_run_that_ends_before_the_data_of_a_late_rank_arrive) {
  for (const int sets : {1, 2, 5, 8}) {
    Simulated config(sets, write_right);
    config.ends_early = true;
    EXPECT_EQ(verdict(check_runs(config)), "") << sets;
    EXPECT_THAT(verdict(check_replays(config)), HasSubstr("not written")) << sets;
  }
}

TEST(CheckedDelayedRuns, find_a_run_that_ends_before_the_data_of_a_late_rank_arrive) {
  Simulated config(2, write_right);
  config.ends_early = true;
  EXPECT_THAT(verdict(check_delayed_runs(config)), HasSubstr("not written"));
}

TEST(CheckedDelayedRuns, are_a_thousand_pairs) {
  int pairs_seen = 0;
  Simulated config(2, [&](Simulated& on, int set, int before) {
    EXPECT_TRUE(on.delayed);
    pairs_seen += before;
    on.at(set) = Result::right;
  });
  EXPECT_EQ(verdict(check_delayed_runs(config)), "");
  EXPECT_EQ(config.runs, 2000);
  EXPECT_EQ(pairs_seen, 1000);
}

TEST(CheckedRuns, complain_about_what_is_not_finite_first) {
  EXPECT_EQ(complaint({.largest = 0.5, .not_finite = 3}, kAllowed),
            "3 elements of the result were not written or are not finite");
  EXPECT_EQ(complaint({.largest = 0.5}, kAllowed),
            "a relative error of 0.5, expected at most 0.01");
  EXPECT_EQ(complaint({.largest = kAllowed}, kAllowed), "");
  EXPECT_NE(complaint({.largest = std::nan("")}, kAllowed), "");
}

}  // namespace
}  // namespace overlaptune::cuda
