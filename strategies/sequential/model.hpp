#pragma once
// The model of `sequential`: the library's GEMM on all SMs and the collective after it, or before
// it where the op exchanges first.

#include "model/strategy_model.hpp"

namespace overlaptune {

template <>
class ModelOf<Sequential> final : public StrategyModel {
 public:
  [[nodiscard]] Strategy strategy() const override { return strategy_of<Sequential>(); }
  [[nodiscard]] Expected<Prediction> predict(const Model::Parts& parts, const Work& work,
                                             Launch launch) const override;
  void search(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
              BestConfigs& best) const override;
  [[nodiscard]] std::optional<Config> draw(const Problem& problem, const CommSetting& setting,
                                           Draws& draws) const override;
};

}  // namespace overlaptune
