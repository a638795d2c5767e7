#include "model/peer_store.hpp"

#include "core/error.hpp"

namespace overlaptune {

Expected<Prediction> PeerStoreModel::predict(const Model::Parts&, const Work&, Launch) const {
  return bad_input("peer_store: not predicted yet");
}

void PeerStoreModel::search(const Model::Parts&, const Problem&, Launch, Space,
                            BestConfigs&) const {}

std::optional<Config> PeerStoreModel::draw(const Problem&, const CommSetting&, Draws&) const {
  return std::nullopt;
}

}  // namespace overlaptune
