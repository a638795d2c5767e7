#pragma once
// The model of `chunked`: the rows of every row block are cut into nearly equal parts. Library
// GEMMs with an SM budget run on one stream, collectives on another.

#include "model/strategy_model.hpp"

namespace overlaptune {

template <>
class ModelOf<Chunked> final : public StrategyModel {
 public:
  [[nodiscard]] Strategy strategy() const override { return strategy_of<Chunked>(); }
  [[nodiscard]] Expected<Prediction> predict(const Model::Parts& parts, const Work& work,
                                             Launch launch) const override;
  void search(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
              BestConfigs& best) const override;
  [[nodiscard]] std::optional<Config> draw(const Problem& problem, const CommSetting& setting,
                                           Draws& draws) const override;
};

}  // namespace overlaptune
