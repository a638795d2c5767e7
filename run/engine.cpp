#include "run/engine.hpp"

#include "run/host/inventory.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::run {

Capabilities Engine::capabilities() const {
  const int capability = compute_capability();
  Capabilities here{.ranks = world.ranks(),
                    .sms = sms,
                    .comm_ctas = kMostChannels,
                    .gemms = gemm_families(capability),
                    .limits = gpu_limits(capability)};
  // The other transports need a driver that has waits on memory: copy engines wait for peers in
  // this way, and such a wait keeps a symmetric kernel apart from the kernel before it
  // (run/exchange/collective.cpp).
  if (!can_wait_for_value()) here.transports = {Transport::ring, Transport::peer_access};
  return here;
}

}  // namespace overlaptune::run
