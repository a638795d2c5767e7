#include "model/strategy_model.hpp"

#include <map>

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "model/parts.hpp"
#include "strategies/models.hpp"

namespace overlaptune {
namespace {

template <class Own>
concept Modelled = requires {
  sizeof(ModelOf<Own>);
};

TEST(StrategyModels, are_missing_for_what_is_no_strategy) {
  EXPECT_TRUE(Modelled<Signaled>);
  EXPECT_FALSE(Modelled<int>);  // a strategy without a model does not compile
}

TEST(StrategyModels, there_is_one_for_each_strategy) {
  std::map<Strategy, int> models;
  for (const StrategyModel* model : strategy_models()) ++models[model->strategy()];
  for (const StrategyTraits& traits : kStrategies) {
    EXPECT_EQ(models[traits.strategy], 1) << to_string(traits.strategy);
    EXPECT_EQ(model_of(traits.strategy).strategy(), traits.strategy);
  }
}

/// Every strategy draws configs of its own, legal ones for the ops that it has.
TEST(StrategyModels, draw_configs_of_their_strategy) {
  Platform platform;
  platform.link = "nvlink";
  platform.gpu_count = 8;
  platform.sms = 132;
  platform.compute_capability = 90;
  Draws draws(7, platform, Elements::bf16);
  for (const StrategyModel* model : strategy_models()) {
    for (const auto& [op, name] : NamesOf<Op>::all) {
      if (!traits_of(model->strategy()).ops.contains(op)) continue;
      const Problem problem{op, 4096, 2048, 1024, Elements::bf16, 8};
      for (int i = 0; i < 50; ++i) {
        const auto config = model->draw(problem, {8, Transport::ring}, draws);
        ASSERT_TRUE(config) << name;
        EXPECT_EQ(strategy_of(*config), model->strategy());
        const auto legal = check(problem, *config, capabilities_of(platform));
        EXPECT_TRUE(legal) << to_string(*config) << ": " << legal.error().message;
      }
    }
  }
}

TEST(StrategyModels, predict_nothing_for_a_dtype_of_which_no_gemm_was_probed) {
  Platform platform;
  platform.link = "nvlink";
  platform.gpu_count = 8;
  platform.sms = 132;
  platform.compute_capability = 90;
  Draws draws(7, platform, Elements::fp16);
  for (const StrategyModel* model : strategy_models()) {
    const bool reduces = traits_of(model->strategy()).ops.contains(Op::gemm_all_reduce);
    const Problem problem{
        reduces ? Op::gemm_all_reduce : Op::all_gather_gemm, 4096, 2048, 1024, Elements::fp16, 8};
    const auto config = model->draw(problem, {8, Transport::ring}, draws);
    ASSERT_TRUE(config);
    const Work work = value_or_throw(Work::make(problem, *config));
    const auto refused = model->predict(Model::Parts{}, work, Launch::graph);
    ASSERT_FALSE(refused) << to_string(*config);
    EXPECT_NE(refused.error().message.find("no GEMM of fp16"), std::string::npos);
    EXPECT_NE(refused.error().message.find("overlaptune probe --dtype fp16"), std::string::npos);
  }
}

TEST(Deck, deals_every_item_equally_often_in_an_order_of_its_own) {
  Dice dice(3);
  Deck<int> deck({0, 1, 2, 3, 4});
  std::vector<std::vector<int>> rounds(40);
  for (auto& round : rounds) {
    std::vector<int> count(5);
    for (int i = 0; i < 5; ++i) {
      round.push_back(deck.deal(dice));
      ++count[static_cast<std::size_t>(round.back())];
    }
    EXPECT_EQ(count, std::vector<int>(5, 1));
  }
  EXPECT_NE(rounds[0], rounds[1]);
}

}  // namespace
}  // namespace overlaptune
