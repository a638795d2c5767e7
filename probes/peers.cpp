#include "probes/peers.hpp"

#include <fmt/format.h>

#include "core/link.hpp"

namespace overlaptune {

std::string why_no_peers(const Platform& platform) {
  if (!is_link(platform.link, Link::nvlink) && !is_link(platform.link, Link::pcie)) {
    return fmt::format("NCCL does not reach the memory of other GPUs over {}", platform.link);
  }
  if (platform.gpu_count > kMostPeers) {
    return fmt::format("{} GPUs have too many pairs; expected at most {} GPUs", platform.gpu_count,
                       kMostPeers);
  }
  return {};
}

std::vector<Probe> peer_plan(const Platform& platform, ProbeDepth depth) {
  constexpr Bytes kForLatency{std::int64_t{4} << 10};
  constexpr Bytes kForBandwidth{std::int64_t{256} << 20};
  std::vector<Probe> plan;
  if (!why_no_peers(platform).empty()) return plan;
  for (const Bytes bytes : {kForLatency, kForBandwidth}) {
    if (bytes == kForLatency && depth == ProbeDepth::quick) continue;
    for (int from = 0; from < platform.gpu_count; ++from) {
      for (int to = 0; to < platform.gpu_count; ++to) {
        if (from != to) plan.emplace_back(PeerProbe{bytes, from, to});
      }
    }
  }
  return plan;
}

}  // namespace overlaptune
