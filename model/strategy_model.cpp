#include "model/strategy_model.hpp"

#include <algorithm>
#include <array>

#include "model/chunked.hpp"
#include "model/parts.hpp"
#include "model/peer_store.hpp"
#include "model/sequential.hpp"
#include "model/signaled.hpp"
#include "model/waiting.hpp"

namespace overlaptune {

std::optional<Scored> StrategyModel::adapted(const Model::Parts& parts, const Problem& problem,
                                             Launch launch, const Config& config) const {
  const auto work = Work::make(problem, config, parts.capabilities);
  if (!work) return std::nullopt;
  const auto prediction = predict(parts, *work, launch);
  if (!prediction) return std::nullopt;
  return Scored{config, prediction->time};
}

std::span<const StrategyModel* const> strategy_models() {
  static const SequentialModel kSequential;
  static const SignaledModel kSignaled;
  static const ChunkedModel kChunked;
  static const WaitingModel kWaiting;
  static const PeerStoreModel kPeerStore;
  static const std::array<const StrategyModel*, kStrategies.size()> kModels{
      &kSequential, &kChunked, &kWaiting, &kPeerStore, &kSignaled};
  return kModels;
}

const StrategyModel& model_of(Strategy strategy) {
  const auto models = strategy_models();
  return **std::find_if(models.begin(), models.end(),
                        [&](const StrategyModel* model) { return model->strategy() == strategy; });
}

}  // namespace overlaptune
