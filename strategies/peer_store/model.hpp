#pragma once
// The model of `peer_store`. One generated GEMM runs on all SMs. It stores tiles into the memory of
// the ranks that own them, and adds to its own tiles what the others have stored for it.

#include "model/strategy_model.hpp"

namespace overlaptune {

template <>
class ModelOf<PeerStore> final : public StrategyModel {
 public:
  [[nodiscard]] Strategy strategy() const override { return strategy_of<PeerStore>(); }
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
