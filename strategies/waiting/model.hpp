#pragma once
// The model of `waiting`. One generated GEMM runs from the start, first on the rank's own rows. The
// other rows arrive wave group by wave group: copy engines bring them, or the peers' tiles that
// load them first, which take no SM, or a few CTAs of the peers, to which the GEMM leaves SMs.

#include "model/strategy_model.hpp"

namespace overlaptune {

template <>
class ModelOf<Waiting> final : public StrategyModel {
 public:
  [[nodiscard]] Strategy strategy() const override { return strategy_of<Waiting>(); }
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
