#pragma once
// The side of a strategy that is in `model/`: it predicts, searches and draws configs.

#include <optional>
#include <span>

#include "core/config/work.hpp"
#include "model/draw.hpp"
#include "model/model.hpp"
#include "model/search.hpp"

namespace overlaptune {

class StrategyModel {
 public:
  virtual ~StrategyModel() = default;
  StrategyModel(const StrategyModel&) = delete;
  StrategyModel& operator=(const StrategyModel&) = delete;

  [[nodiscard]] virtual Strategy strategy() const = 0;

  /// Predicts a config. `work` has this strategy, and is legal on the platform that was fitted.
  /// Error: something that it needs was never probed.
  [[nodiscard]] virtual Expected<Prediction> predict(const Model::Parts& parts, const Work& work,
                                                     Launch launch) const = 0;

  /// Offers the best config of every combination of the space that may enter the list. The strategy
  /// supports the problem's op.
  virtual void search(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
                      BestConfigs& best) const = 0;

  /// Whether this search takes much longer than those of other strategies. It comes last, because a
  /// time that others reach makes it shorter.
  [[nodiscard]] virtual bool takes_longest() const { return false; }

  /// A config drawn at random, without the model; none if the strategy has no config with such
  /// collectives. The strategy supports the problem's op. The caller checks whether the config is
  /// legal.
  [[nodiscard]] virtual std::optional<Config> draw(const Problem& problem,
                                                   const CommSetting& setting,
                                                   Draws& draws) const = 0;

  /// A config of this strategy that was tuned for a problem of the same op, made fit for another
  /// one: all is kept but what depends on the sizes, such as wave groups, which is searched anew.
  /// None where it cannot run or cannot be predicted.
  [[nodiscard]] virtual std::optional<Scored> adapted(const Model::Parts& parts,
                                                      const Problem& problem, Launch launch,
                                                      const Config& config) const;

 protected:
  StrategyModel() = default;
};

/// The model of the strategy whose configs have type `Own`: a `StrategyModel` without state. Each
/// strategy specializes it in a header of its own.
template <class Own>
class ModelOf;

/// The models of all strategies, in the order in which they are searched.
[[nodiscard]] std::span<const StrategyModel* const> strategy_models();

[[nodiscard]] const StrategyModel& model_of(Strategy strategy);

}  // namespace overlaptune
