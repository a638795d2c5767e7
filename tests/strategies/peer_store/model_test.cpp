// `peer_store` on measurements of simulated H200: predictions beside runs, and the search.

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "fitted.hpp"
#include "model/parts.hpp"
#include "model/search.hpp"
#include "model/strategy_model.hpp"
#include "tests/machine/simulator/configs.hpp"

namespace overlaptune {
namespace {

constexpr std::array kOps{Op::gemm_reduce_scatter, Op::gemm_all_reduce, Op::gemm_all_to_all};

/// The best configs of the strategy. `sequential` is left out, which every search considers.
std::vector<Scored> best_of(const Model& model, const Problem& problem, int count, Space space) {
  auto list = value_or_throw(
      search(model, problem, Launch::graph,
             {.space = space, .best = count + 1, .strategies = {strategy_of<PeerStore>()}}));
  std::erase_if(list, [](const Scored& each) {
    return strategy_of(each.config) != strategy_of<PeerStore>();
  });
  if (list.size() > static_cast<std::size_t>(count)) list.resize(static_cast<std::size_t>(count));
  return list;
}

class PeerStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }
  static const Model& model() { return fitted_->model; }
  static Machine& machine() { return *fitted_->machine; }

  static std::vector<Scored> best(const Problem& problem, int count, Space space = Space::full) {
    return best_of(model(), problem, count, space);
  }
  inline static std::unique_ptr<FittedMachine> fitted_;
};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  for (const Op op : kOps) {
    for (const std::int64_t m : {1024, 4096, 16384}) {
      for (const std::int64_t k : {1024, 3584}) {
        list.push_back({op, m, 8192, k, Elements::bf16, 8});
      }
    }
    list.push_back({op, 3000, 5120, 2048, Elements::bf16, 8});
  }
  return list;
}

TEST_F(PeerStoreTest, predictions_are_near_the_simulator) {
  double sum = 0;
  int count = 0;
  for (const Problem& problem : problems()) {
    for (const Scored& scored : best(problem, 3)) {
      const RunResult result = test::run(machine(), problem, scored.config);
      ASSERT_EQ(result.verdict, Verdict::valid) << result.reason;
      const double error = scored.time.count() / test::time_us(result) - 1;
      EXPECT_LT(std::abs(error), 0.1) << to_string(problem) << " " << to_string(scored.config);
      sum += std::abs(error);
      ++count;
    }
  }
  EXPECT_GE(count, 60);
  EXPECT_LT(sum / count, 0.03);
}

TEST_F(PeerStoreTest, configs_drawn_at_random_are_predicted_too) {
  Draws draws(5, machine().platform(), Elements::bf16);
  double sum = 0;
  int count = 0;
  for (const Problem& problem : problems()) {
    for (int i = 0; i < 6; ++i) {
      const Config config = *model_of(strategy_of<PeerStore>()).draw(problem, {}, draws);
      const RunResult result = test::run(machine(), problem, config, {.repetitions = 3});
      ASSERT_EQ(result.verdict, Verdict::valid) << result.reason;
      const auto prediction = value_or_throw(model().predict(problem, config, Launch::graph));
      sum += std::abs(std::log(prediction.time.count() / test::time_us(result)));
      ++count;
    }
  }
  EXPECT_LT(sum / count, 0.07);
}

TEST_F(PeerStoreTest, nothing_drawn_at_random_is_predicted_to_be_faster) {
  Draws draws(6, machine().platform(), Elements::bf16);
  for (const Problem& problem : problems()) {
    const std::vector<Scored> list = best(problem, 1);
    ASSERT_FALSE(list.empty()) << to_string(problem);
    for (int i = 0; i < 200; ++i) {
      const Config config = *model_of(strategy_of<PeerStore>()).draw(problem, {}, draws);
      if (tile_of(config).block_n < 64) continue;  // the search leaves out narrow tiles
      const auto prediction = value_or_throw(model().predict(problem, config, Launch::graph));
      EXPECT_GE(prediction.time, list.front().time * (1 - 1e-9))
          << to_string(problem) << " " << to_string(config) << " against "
          << to_string(list.front().config);
    }
  }
}

TEST_F(PeerStoreTest, the_search_promises_what_is_predicted) {
  for (const Problem& problem : problems()) {
    Microseconds last{};
    for (const Space space : {Space::full, Space::subset}) {
      const std::vector<Scored> list = best(problem, 20, space);
      for (const Scored& scored : list) {
        const auto prediction = model().predict(problem, scored.config, Launch::graph);
        ASSERT_TRUE(prediction) << to_string(scored.config);
        EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(scored.config);
      }
      EXPECT_GE(list.front().time, last * (1 - 1e-12)) << "the subset is part of the space";
      last = list.front().time;
    }
  }
}

TEST_F(PeerStoreTest, a_timeline_has_every_group_and_ends_with_the_prediction) {
  const Problem problem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};
  for (const Scored& scored : best(problem, 5)) {
    const auto prediction = value_or_throw(model().predict(problem, scored.config, Launch::graph));
    const Timeline& timeline = prediction.timeline;
    ASSERT_EQ(timeline.groups.size(), wave_groups_of(scored.config).size());
    Microseconds before{};
    for (const GroupTimes& group : timeline.groups) {
      EXPECT_LE(group.ready, group.start);
      EXPECT_LT(group.start, group.end);
      EXPECT_GE(group.end, before);
      EXPECT_GE(group.exposed.count(), 0);
      EXPECT_LE(group.exposed, group.end - group.start);
      before = group.end;
    }
    EXPECT_LE(timeline.gemm_end, prediction.time);
    EXPECT_LE(timeline.groups.back().end, prediction.time + us(1e-9));
    EXPECT_GE(prediction.time, prediction.gemm_alone);
  }
}

TEST_F(PeerStoreTest, adapted_configs_keep_their_tile_and_fit_the_other_problem) {
  const Problem tuned{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};
  const Config config = best(tuned, 1).front().config;
  for (const Problem& problem : problems()) {
    const auto adapted =
        model_of(strategy_of<PeerStore>()).adapted(model().parts(), problem, Launch::graph, config);
    ASSERT_TRUE(adapted) << to_string(problem);
    EXPECT_EQ(tile_of(adapted->config), tile_of(config));
    const auto prediction = model().predict(problem, adapted->config, Launch::graph);
    ASSERT_TRUE(prediction) << to_string(adapted->config);
    EXPECT_NEAR(prediction->time / adapted->time, 1, 1e-9);
  }
}

TEST_F(PeerStoreTest, what_was_not_probed_is_named) {
  const Problem problem{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};
  const Config config = best(problem, 1).front().config;
  const auto said = [&](auto keep) {
    std::vector<Measurement> list;
    for (const Measurement& m : fitted_->measurements) {
      if (keep(m.probe)) list.push_back(m);
    }
    const Model fitted = value_or_throw(Model::fit(machine().platform(), list));
    const auto prediction = fitted.predict(problem, config, Launch::graph);
    EXPECT_TRUE(best_of(fitted, problem, 1, Space::full).empty());
    return prediction ? std::string() : prediction.error().message;
  };
  EXPECT_NE(said([](const Probe& probe) {
              const auto* copy = std::get_if<CopyProbe>(&probe);
              return copy == nullptr || copy->ctas == 0;
            }).find("into a peer's memory by CTAs"),
            std::string::npos);
  EXPECT_NE(said([](const Probe& probe) {
              const auto* exchange = std::get_if<CollectiveProbe>(&probe);
              return exchange == nullptr || exchange->transport != Transport::peer_access;
            }).find("reduce_scatter on 8 ranks by peer_access"),
            std::string::npos);
}

}  // namespace
}  // namespace overlaptune
