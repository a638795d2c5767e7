#include "model/strategy_model.hpp"

#include <algorithm>
#include <type_traits>

#include "model/parts.hpp"
#include "strategies/models.hpp"

namespace overlaptune {
namespace {

/// The models in the order of `Config`.
const auto& models() {
  static const auto kModels =
      each_strategy([]<class Own>(std::type_identity<Own>) -> const StrategyModel* {
        static const ModelOf<Own> kModel;
        return &kModel;
      });
  return kModels;
}

}  // namespace

std::optional<Scored> StrategyModel::adapted(const Model::Parts& parts, const Problem& problem,
                                             Launch launch, const Config& config) const {
  const auto work = Work::make(problem, config, parts.capabilities);
  if (!work) return std::nullopt;
  const auto prediction = predict(parts, *work, launch);
  if (!prediction) return std::nullopt;
  return Scored{config, prediction->time};
}

std::span<const StrategyModel* const> strategy_models() {
  static const auto kSearched = [] {
    auto list = models();
    std::stable_partition(list.begin(), list.end(),
                          [](const StrategyModel* model) { return !model->takes_longest(); });
    return list;
  }();
  return kSearched;
}

const StrategyModel& model_of(Strategy strategy) {
  return *models().at(static_cast<std::size_t>(strategy));
}

}  // namespace overlaptune
