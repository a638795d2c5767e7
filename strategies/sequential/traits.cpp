#include "strategies/sequential/traits.hpp"

#include "core/config/rules.hpp"

namespace overlaptune {

Expected<void> TraitsOf<Sequential>::check(const Sequential& config) {
  return has_ctas_for(config.transport, config.comm_ctas);
}

Expected<void> TraitsOf<Sequential>::check(const Problem& problem, const Sequential& config) {
  if (config.transport == Transport::peer_access) return peers_can_move(problem);
  return {};
}

ChunkedWork TraitsOf<Sequential>::work(const Problem& problem, const Sequential& /*config*/) {
  return {{problem.m / row_blocks(problem)}};
}

}  // namespace overlaptune
