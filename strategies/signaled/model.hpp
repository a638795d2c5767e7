#pragma once
// The model of `signaled`. One generated GEMM runs on all SMs for the first group and on SMs -
// comm_ctas after it. With `kHandedOver` it runs on all SMs, and hands them over tile by tile. The
// collective of each wave group starts on its signal.

#include "model/strategy_model.hpp"

namespace overlaptune {

template <>
class ModelOf<Signaled> final : public StrategyModel {
 public:
  [[nodiscard]] Strategy strategy() const override { return strategy_of<Signaled>(); }
  [[nodiscard]] bool takes_longest() const override { return true; }
  [[nodiscard]] Expected<Prediction> predict(const Model::Parts& parts, const Work& work,
                                             Launch launch) const override;
  void search(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
              BestConfigs& best) const override;
  [[nodiscard]] std::optional<Config> draw(const Problem& problem, const CommSetting& setting,
                                           Draws& draws) const override;
  [[nodiscard]] std::optional<Scored> adapted(const Model::Parts& parts, const Problem& problem,
                                              Launch launch, const Config& config) const override;
};

}  // namespace overlaptune
