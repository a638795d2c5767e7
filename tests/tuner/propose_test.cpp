#include "tuner/propose.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/tuner/counting_machine.hpp"
#include "tuner/prepare.hpp"

namespace overlaptune {
namespace {

/// A problem that is worth overlapping.
const Problem kLarge{Op::gemm_all_reduce, 4096, 8192, 3584, Dtype::bf16, 8};
/// A problem that is not.
const Problem kSmall{Op::all_gather_gemm, 2048, 1024, 512, Dtype::bf16, 8};

class ProposeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const samples::Folder folder;
    Store store(folder / "probed.db", Access::create);
    CountingMachine machine;
    const PlatformId platform = store.add_platform(machine.platform());
    const auto plan =
        probe_plan(machine.platform(), machine.transports(), std::vector{8}, ProbeDepth::quick);
    value_or_throw(run_probes(machine, store, plan, {}, false,
                              [](std::size_t, std::size_t, std::string_view) { return true; }));
    prepared_ = std::make_unique<Prepared>(value_or_throw(fit_stored(machine, store, platform)));
  }
  static void TearDownTestSuite() { prepared_.reset(); }

  [[nodiscard]] static std::vector<Candidate> proposed(const Problem& problem,
                                                       const ProposeOptions& options,
                                                       Launch launch = Launch::graph) {
    return value_or_throw(propose(prepared_->model, prepared_->space, problem, launch, options));
  }
  [[nodiscard]] static std::vector<Candidate> of(Origin origin, std::vector<Candidate> list) {
    std::erase_if(list, [&](const Candidate& each) { return each.origin != origin; });
    return list;
  }

  inline static std::unique_ptr<Prepared> prepared_;
};

TEST_F(ProposeTest, sequential_comes_first_then_the_shortlist_then_what_is_drawn) {
  const auto list = proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 3}, Launch::eager);
  ASSERT_EQ(list.size(), 16U);
  EXPECT_EQ(list.front().config, Config{});
  EXPECT_EQ(list.front().origin, Origin::baseline);
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.origin < b.origin;  // baseline, shortlist, explore
  }));
  EXPECT_EQ(of(Origin::shortlist, list).size(), 6U);
  EXPECT_EQ(of(Origin::explore, list).size(), 9U);
  std::set<std::string> lines;
  for (const Candidate& each : list) {
    EXPECT_TRUE(lines.insert(to_string(each.config)).second);
    EXPECT_EQ(each.problem, kLarge);
    EXPECT_EQ(each.launch, Launch::eager);
    const auto prediction = prepared_->model.predict(kLarge, each.config, Launch::eager);
    ASSERT_TRUE(prediction);
    EXPECT_NEAR(each.predicted.count(), prediction->time.count(), 1e-9 * each.predicted.count());
  }
}

TEST_F(ProposeTest, ranks_are_the_order_of_the_model) {
  const auto list = proposed(kLarge, {.top_k = 6, .explore = 9});
  EXPECT_FALSE(list.front().rank_by_model);  // `sequential` is not among the best here
  const auto shortlisted = of(Origin::shortlist, list);
  for (std::size_t i = 0; i < shortlisted.size(); ++i) {
    EXPECT_EQ(shortlisted[i].rank_by_model, static_cast<int>(i));
    EXPECT_LE(shortlisted[0].predicted, shortlisted[i].predicted);
  }
  for (const Candidate& each : of(Origin::explore, list)) EXPECT_FALSE(each.rank_by_model);
}

TEST_F(ProposeTest, sequential_has_a_rank_where_it_is_on_the_shortlist) {
  const auto list = proposed(kSmall, {.top_k = 3});
  ASSERT_EQ(list.size(), 3U);  // each config once
  EXPECT_EQ(list.front().origin, Origin::baseline);
  EXPECT_EQ(list.front().rank_by_model, 0);
  EXPECT_EQ(list[1].rank_by_model, 1);
}

TEST_F(ProposeTest, the_seed_changes_only_what_is_drawn) {
  const auto one = proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 1});
  EXPECT_EQ(proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 1}), one);
  const auto two = proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 2});
  EXPECT_EQ(of(Origin::shortlist, two), of(Origin::shortlist, one));
  EXPECT_NE(of(Origin::explore, two), of(Origin::explore, one));
}

TEST_F(ProposeTest, a_config_whose_collective_was_never_probed_is_left_out) {
  ExploreSpace unknown = prepared_->space;
  for (auto& [collective, settings] : unknown.settings) {
    for (CommSetting& setting : settings) setting.comm_ctas = 7;
  }
  ASSERT_FALSE(explore(unknown, kLarge, 5, 1).empty());
  const auto list = propose(prepared_->model, unknown, kLarge, Launch::graph,
                            {.top_k = 2, .explore = 5, .seed = 1});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->size(), 3U);
}

TEST_F(ProposeTest, a_search_that_is_stopped_ends_with_what_it_has) {
  int whole = 0;
  (void)proposed(kLarge, {.top_k = 6, .stop = [&] { return ++whole < 0; }});
  int asked = 0;
  const auto list = proposed(kLarge, {.top_k = 6, .stop = [&] { return ++asked >= 2; }});
  EXPECT_LT(asked, whole / 10);
  EXPECT_EQ(list.front().config, Config{});
  EXPECT_LE(list.size(), 7U);
}

TEST_F(ProposeTest, a_rank_count_that_was_not_probed_is_an_error) {
  Problem problem = kLarge;
  problem.ranks = 4;
  const auto list = propose(prepared_->model, prepared_->space, problem, Launch::graph, {});
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace overlaptune
