#include "tuner/propose.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuner/counting_machine.hpp"
#include "tuner/prepare.hpp"

namespace overlaptune {
namespace {

/// A problem that is worth overlapping.
const Problem kLarge{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};
/// A problem that is not.
const Problem kSmall{Op::all_gather_gemm, 2048, 1024, 128, Elements::bf16, 8};

using Times = std::function<Microseconds(const Candidate&)>;

Microseconds as_predicted(const Candidate& candidate) {
  return candidate.predicted;
}

class ProposeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    Store store(file(), Access::create);
    CountingMachine machine;
    store.add_platform(machine.platform());
    const auto plan =
        probe_plan(machine.platform(), machine.transports(), std::vector{8}, ProbeDepth::quick);
    value_or_throw(run_probes(machine, store, plan, {}, false,
                              [](std::size_t, std::size_t, std::string_view) { return true; }));
  }
  static void TearDownTestSuite() { folder_.reset(); }
  [[nodiscard]] static std::filesystem::path file() { return *folder_ / "probed.db"; }

  [[nodiscard]] static Prepared prepared() {
    const CountingMachine machine;
    const Store store(file(), Access::read);
    return value_or_throw(fit_stored(machine, store, {.platform = store.platforms().front().id}));
  }

  /// All proposals, if each takes what `times` says.
  [[nodiscard]] static std::vector<Candidate> proposed(Prepared& prepared, const Problem& problem,
                                                       const ProposeOptions& options,
                                                       const Times& times = as_predicted,
                                                       Launch launch = Launch::graph) {
    auto source =
        value_or_throw(Proposals::make(prepared.model, prepared.space, problem, launch, options));
    std::vector<Candidate> list;
    while (auto candidate = source.next()) {
      list.push_back(*candidate);
      const Microseconds time = times(*candidate);
      candidate->measured = Summary{time, time, time, 9};
      source.judged(*candidate);
    }
    return list;
  }
  [[nodiscard]] static std::vector<Candidate> proposed(const Problem& problem,
                                                       const ProposeOptions& options,
                                                       const Times& times = as_predicted,
                                                       Launch launch = Launch::graph) {
    Prepared fresh = prepared();
    return proposed(fresh, problem, options, times, launch);
  }
  [[nodiscard]] static std::vector<Candidate> of(Origin origin, std::vector<Candidate> list) {
    std::erase_if(list, [&](const Candidate& each) { return each.origin != origin; });
    return list;
  }

  inline static std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(ProposeTest, sequential_comes_first_then_the_model_then_what_is_drawn) {
  const auto list =
      proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 3}, as_predicted, Launch::eager);
  EXPECT_EQ(strategy_of(list.front().config), strategy_of<Sequential>());
  EXPECT_EQ(list.front().origin, Origin::baseline);
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.origin < b.origin;  // baseline, shortlist, explore
  }));
  EXPECT_GE(of(Origin::shortlist, list).size(), 1U);
  EXPECT_LE(of(Origin::shortlist, list).size(), 6U);
  EXPECT_EQ(of(Origin::explore, list).size(), 9U);
  const Prepared fresh = prepared();
  std::set<std::string> lines;
  for (const Candidate& each : list) {
    EXPECT_TRUE(lines.insert(to_string(each.config)).second);
    EXPECT_EQ(each.problem, kLarge);
    EXPECT_EQ(each.launch, Launch::eager);
    // Nothing was measured when this was predicted.
    const auto prediction = fresh.model.analytic().predict(kLarge, each.config, Launch::eager);
    ASSERT_TRUE(prediction);
    EXPECT_NEAR(each.predicted.count(), prediction->time.count(), 1e-9 * each.predicted.count());
  }
}

TEST_F(ProposeTest, ranks_are_the_order_of_the_proposals) {
  const auto list = proposed(kLarge, {.top_k = 6, .explore = 9});
  EXPECT_FALSE(list.front().rank_by_model);  // `sequential` is not the best here
  const auto by_model = of(Origin::shortlist, list);
  for (std::size_t i = 0; i < by_model.size(); ++i) {
    EXPECT_EQ(by_model[i].rank_by_model, static_cast<int>(i));
    EXPECT_LE(by_model[0].predicted, by_model[i].predicted);
  }
  for (const Candidate& each : of(Origin::explore, list)) EXPECT_FALSE(each.rank_by_model);
}

TEST_F(ProposeTest, sequential_has_the_first_rank_where_it_is_predicted_to_be_fastest) {
  const auto list = proposed(kSmall, {.top_k = 4});
  EXPECT_EQ(list.front().origin, Origin::baseline);
  EXPECT_EQ(list.front().rank_by_model, 0);
  EXPECT_EQ(list.size(), 1U);  // no other is expected to be faster
}

TEST_F(ProposeTest, proposals_end_where_none_is_expected_to_be_faster) {
  const int most = 40;
  const auto list = proposed(kLarge, {.top_k = most});
  EXPECT_LT(list.size(), std::size_t{most});
  // All others are slower by far more than the model may err.
  const Config first = list[1].config;
  const auto surprised = proposed(kLarge, {.top_k = most}, [&](const Candidate& each) {
    return each.config == first ? 0.5 * each.predicted : each.predicted;
  });
  EXPECT_LE(surprised.size(), list.size());
}

TEST_F(ProposeTest, after_a_disappointment_other_configs_are_proposed) {
  const auto list = proposed(kLarge, {.top_k = 6}, [](const Candidate& each) {
    const bool first = each.rank_by_model == 0;
    return first ? 1.3 * each.predicted : each.predicted;
  });
  const auto calm = proposed(kLarge, {.top_k = 6});
  ASSERT_GE(list.size(), 3U);
  ASSERT_GE(calm.size(), 3U);
  const Config& first = list[1].config;
  const Config& second = list[2].config;
  EXPECT_EQ(first, calm[1].config);
  // The proposals that follow are not those without a disappointment.
  const auto later = [](const std::vector<Candidate>& all) {
    std::vector<Config> configs;
    for (std::size_t i = 2; i < all.size(); ++i) configs.push_back(all[i].config);
    return configs;
  };
  EXPECT_NE(later(list), later(calm));
  // They differ in more than their groups.
  EXPECT_TRUE(strategy_of(first) != strategy_of(second) || tile_of(first) != tile_of(second) ||
              samples::swizzle_of(first) != samples::swizzle_of(second) ||
              comm_ctas(first) != comm_ctas(second) || transport_of(first) != transport_of(second));
}

TEST_F(ProposeTest, another_strategy_that_may_win_comes_before_a_second_config_of_the_first) {
  // A long product, where all that overlaps takes about as long.
  const Problem problem{Op::gemm_reduce_scatter, 4096, 8192, 14336, Elements::bf16, 8};
  const auto list = of(Origin::shortlist, proposed(problem, {.top_k = 4}));
  ASSERT_GE(list.size(), 3U);
  EXPECT_NE(strategy_of(list[0].config), strategy_of(list[1].config));
  // One that cannot win is never tried: `chunked` is predicted to be much slower.
  for (const Candidate& each : list) EXPECT_NE(strategy_of(each.config), strategy_of<Chunked>());
}

TEST_F(ProposeTest, what_was_measured_before_is_known) {
  Prepared taught = prepared();
  const auto before = proposed(taught, kLarge, {.top_k = 20},
                               [](const Candidate& each) { return 1.2 * each.predicted; });
  Problem near = kLarge;
  near.m = 3968;
  for (const Candidate& each : of(Origin::shortlist, proposed(taught, near, {.top_k = 2}))) {
    const auto cold = taught.model.analytic().predict(near, each.config, Launch::graph);
    EXPECT_NEAR(each.predicted / cold->time, 1.2, 0.06) << to_string(each.config);
  }
}

TEST_F(ProposeTest, the_seed_changes_only_what_is_drawn) {
  const auto one = proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 1});
  EXPECT_EQ(proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 1}), one);
  const auto two = proposed(kLarge, {.top_k = 6, .explore = 9, .seed = 2});
  EXPECT_EQ(of(Origin::shortlist, two), of(Origin::shortlist, one));
  EXPECT_NE(of(Origin::explore, two), of(Origin::explore, one));
}

TEST_F(ProposeTest, a_config_whose_collective_was_never_probed_is_left_out) {
  Prepared unknown = prepared();
  std::erase(unknown.space.strategies, strategy_of<PeerStore>());  // has no collective
  for (auto& [collective, settings] : unknown.space.settings) {
    for (CommSetting& setting : settings) setting.comm_ctas = 7;
  }
  ASSERT_FALSE(explore(unknown.space, kLarge, 5, 1).empty());
  EXPECT_TRUE(of(Origin::explore, proposed(unknown, kLarge, {.top_k = 2, .explore = 5, .seed = 1}))
                  .empty());
}

/// The fastest is out: there is something to gain again, but not with its kernels.
TEST_F(ProposeTest, where_all_that_is_fast_is_ruled_out_other_kernels_are_proposed) {
  Prepared fresh = prepared();
  auto source = value_or_throw(
      Proposals::make(fresh.model, fresh.space, kLarge, Launch::graph, {.top_k = 40}));
  std::vector<Candidate> list;
  const auto take_all = [&] {
    std::vector<Candidate> taken;
    while (auto candidate = source.next()) {
      taken.push_back(*candidate);
      candidate->measured =
          Summary{candidate->predicted, candidate->predicted, candidate->predicted, 9};
      source.judged(*candidate);
    }
    return taken;
  };
  const auto first = take_all();
  ASSERT_GT(first.size(), 1U);
  EXPECT_FALSE(source.next());
  for (const Candidate& each : first) {
    if (strategy_of(each.config) != strategy_of<Sequential>()) source.ruled_out(each.config);
  }
  const auto second = take_all();
  ASSERT_GE(second.size(), 1U);
  for (const Candidate& each : second) {
    EXPECT_LT(each.predicted, first.front().predicted);  // `sequential`
    for (const Candidate& out : first) EXPECT_FALSE(same_kernels(each.config, out.config));
  }
}

TEST_F(ProposeTest, a_search_that_is_stopped_ends_with_what_it_has) {
  int whole = 0;
  (void)proposed(kLarge, {.top_k = 6, .stop = [&] { return ++whole < 0; }});
  int asked = 0;
  const auto list = proposed(kLarge, {.top_k = 6, .stop = [&] { return ++asked >= 2; }});
  EXPECT_LT(asked, whole / 10);
  EXPECT_EQ(strategy_of(list.front().config), strategy_of<Sequential>());
  EXPECT_LE(list.size(), 7U);
}

TEST_F(ProposeTest, a_rank_count_that_was_not_probed_is_an_error) {
  Problem problem = kLarge;
  problem.ranks = 4;
  Prepared fresh = prepared();
  const auto none = Proposals::make(fresh.model, fresh.space, problem, Launch::graph, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace overlaptune
