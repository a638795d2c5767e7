#pragma once
// What the model knows of one strategy. To add a strategy: a class in files of its own, and a line
// in the table in strategy_model.cpp.

#include <optional>
#include <span>

#include "core/work.hpp"
#include "model/best_configs.hpp"
#include "model/draw.hpp"
#include "model/model.hpp"

namespace overlaptune {

class StrategyModel {
 public:
  virtual ~StrategyModel() = default;
  StrategyModel(const StrategyModel&) = delete;
  StrategyModel& operator=(const StrategyModel&) = delete;

  [[nodiscard]] virtual Strategy strategy() const = 0;

  /// `work` is of this strategy, and legal on the platform that was fitted. Error: something that
  /// it needs was never probed.
  [[nodiscard]] virtual Expected<Prediction> predict(const Model::Parts& parts, const Work& work,
                                                     Launch launch) const = 0;

  /// Offers the best config of every combination of the space that may enter the list. The strategy
  /// has the problem's op.
  virtual void search(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
                      BestConfigs& best) const = 0;

  /// A config drawn at random, without asking the model; none where the strategy has none with such
  /// collectives. The strategy has the problem's op; whether the config is legal, the caller
  /// checks.
  [[nodiscard]] virtual std::optional<Config> draw(const Problem& problem,
                                                   const CommSetting& setting,
                                                   Draws& draws) const = 0;

 protected:
  StrategyModel() = default;
};

/// One for each strategy, in the order in which they are searched.
[[nodiscard]] std::span<const StrategyModel* const> strategy_models();

[[nodiscard]] const StrategyModel& model_of(Strategy strategy);

}  // namespace overlaptune
