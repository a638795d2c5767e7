#pragma once
// The properties and rules of `sequential`.

#include "core/config/rules.hpp"
#include "core/config/strategy_traits.hpp"
#include "core/config/work_parts.hpp"
#include "core/problem.hpp"

namespace overlaptune {

template <>
struct TraitsOf<Sequential> {
  static constexpr StrategyTraits row{
      .ops = kAllOps,
      .transports = {Transport::ring, Transport::symmetric, Transport::copy_engine,
                     Transport::peer_access}};

  [[nodiscard]] static Expected<void> check(const Sequential& config) {
    return has_ctas_for(config.transport, config.comm_ctas);
  }
  [[nodiscard]] static Expected<void> check(const Problem& problem, const Sequential& config) {
    if (config.transport == Transport::peer_access) return peers_can_move(problem);
    return {};
  }
  [[nodiscard]] static ChunkedWork work(const Problem& problem, const Sequential& /*config*/) {
    return {{problem.m / row_blocks(problem)}};
  }
};

}  // namespace overlaptune
