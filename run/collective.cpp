#include "run/collective.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/units.hpp"
#include "kernels/peer_exchange.hpp"
#include "run/copies.hpp"
#include "run/stream_wait.hpp"

namespace overlaptune::run {
namespace {

ncclDataType_t type_of(Dtype dtype) {
  return dtype == Dtype::bf16 ? ncclBfloat16 : ncclFloat16;
}

/// NCCL 2.28 lets a symmetric kernel start before the kernel ahead of it on its stream has ended.
/// Something between the two that is no kernel keeps them apart: a wait for what is there already.
/// (A memset would do, too, but in a graph it may queue behind another stream's GEMM.)
void keep_apart(cudaStream_t stream, World& world) {
  wait_for_value(stream, world.zero(), 0);
}

}  // namespace

Expected<CommKey> route(const World& world, Collective collective, int ranks, int ctas,
                        Transport transport) {
  constexpr int kMostCtas = 64;  // NCCL's MAXCHANNELS
  static_assert(kMostCtas <= kernels::PeerExchange::kMostCtas);
  if (ranks < 2 || ranks > world.ranks()) {
    return bad_input(fmt::format("ranks = {}: expected 2 to {}", ranks, world.ranks()));
  }
  if (ctas < 0 || ctas > kMostCtas) {
    return bad_input(
        fmt::format("comm_ctas = {}: expected 0 (NCCL's choice) to {}", ctas, kMostCtas));
  }
  if (!serves(transport, collective)) {
    return bad_input(fmt::format("transport {}: there is none for {}", to_string(transport),
                                 to_string(collective)));
  }
  const bool waits = transport == Transport::copy_engine || transport == Transport::symmetric;
  if (waits && !can_wait_for_value()) {
    return bad_input(
        fmt::format("transport {}: the driver has no wait on memory", to_string(transport)));
  }
  if (transport == Transport::copy_engine) {
    return CommKey{.ranks = ranks, .ctas = ctas, .symmetric = true, .copies = true};
  }
  if (transport == Transport::peer_access) {
    if (ctas < 1) return bad_input("comm_ctas = 0: transport peer_access needs one at least");
    return CommKey{.ranks = ranks, .ctas = ctas, .symmetric = true, .peers = true};
  }
  return CommKey{.ranks = ranks,
                 .ctas = ctas,
                 .symmetric = transport == Transport::symmetric,
                 .pairwise = collective == Collective::all_to_all};
}

Expected<void> make_ready(World& world, const CommKey& route) {
  static_cast<void>(world.comm(route));
  if (!route.maps_memory()) return {};
  constexpr int kMostRanks = std::min(Copies::kMostRanks, kernels::PeerExchange::kMostRanks);
  const bool takes_part = world.rank() < route.ranks;
  const bool able = route.ranks <= kMostRanks && (!takes_part || world.reaches(route));
  if (world.largest(able ? 0 : 1) > 0) {
    return bad_input(
        "transports copy_engine and peer_access: the GPUs cannot reach one another's memory, this "
        "NCCL is of another release than the one that the program was built with, or there are "
        "more than " +
        std::to_string(kMostRanks) + " ranks");
  }
  return {};
}

void enqueue(cudaStream_t stream, World& world, const CommKey& route, Collective collective,
             Dtype dtype, const void* send, void* receive, std::int64_t count) {
  const ncclComm_t comm = world.comm(route);
  if (comm == nullptr) return;  // this rank has no part in it
  if (route.symmetric) keep_apart(stream, world);
  const ncclDataType_t type = type_of(dtype);
  const auto whole = static_cast<std::size_t>(count);
  const auto part = static_cast<std::size_t>(count / route.ranks);
  switch (collective) {
    case Collective::all_reduce:
      OVT_CHECK(ncclAllReduce(send, receive, whole, type, ncclSum, comm, stream));
      return;
    case Collective::reduce_scatter:
      OVT_CHECK(ncclReduceScatter(send, receive, part, type, ncclSum, comm, stream));
      return;
    case Collective::all_gather:
      OVT_CHECK(ncclAllGather(send, receive, part, type, comm, stream));
      return;
    case Collective::all_to_all:
      OVT_CHECK(ncclAlltoAll(send, receive, part, type, comm, stream));
      return;
  }
}

void enqueue_all_to_all(cudaStream_t stream, World& world, const CommKey& route, Dtype dtype,
                        const void* send, void* receive, std::int64_t count, std::int64_t stride) {
  const ncclComm_t comm = world.comm(route);
  if (comm == nullptr) return;
  const ncclDataType_t type = type_of(dtype);
  OVT_CHECK(ncclGroupStart());
  for (int peer = 0; peer < route.ranks; ++peer) {
    const auto* from = static_cast<const std::byte*>(send) + peer * count * kElementBytes;
    auto* to = static_cast<std::byte*>(receive) + peer * stride * kElementBytes;
    OVT_CHECK(ncclSend(from, static_cast<std::size_t>(count), type, peer, comm, stream));
    OVT_CHECK(ncclRecv(to, static_cast<std::size_t>(count), type, peer, comm, stream));
  }
  OVT_CHECK(ncclGroupEnd());
}

}  // namespace overlaptune::run
