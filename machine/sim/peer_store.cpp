// `peer_store`: one generated GEMM, whose tiles are stored at the ranks that own them.

#include "core/error.hpp"
#include "machine/sim/strategies.hpp"

namespace overlaptune::sim {
namespace {

class PeerStoreSimulation : public StrategySimulation {
 public:
  [[nodiscard]] Strategy strategy() const override { return Strategy::peer_store; }
  [[nodiscard]] Expected<Schedule> schedule(const Profile&, const Work&) const override {
    return bad_input("peer_store: not simulated yet");
  }
};

}  // namespace

std::unique_ptr<StrategySimulation> simulate_peer_store() {
  return std::make_unique<PeerStoreSimulation>();
}

}  // namespace overlaptune::sim
