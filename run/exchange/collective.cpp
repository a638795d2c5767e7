#include "run/exchange/collective.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "kernels/peer_exchange.hpp"
#include "run/exchange/copies.hpp"
#include "run/exchange/peers.hpp"
#include "run/nccl.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::run {
namespace {

ncclDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return ncclBfloat16;
    case Dtype::fp16:
      return ncclFloat16;
    case Dtype::e4m3:
      return ncclUint8;  // it is moved, never added
  }
  return ncclNumTypes;
}

/// Keeps a symmetric kernel apart from the kernel before it on its stream: NCCL 2.28 lets it start
/// before that kernel has ended. The wait between the two is for a value that is there already. (A
/// memset would also do, but in a graph it may queue behind the GEMM of another stream.)
void keep_apart(cudaStream_t stream, World& world) {
  wait_for_value(stream, world.zero(), 0);
}

/// An all-to-all by sends and receives.
void send_to_all(cudaStream_t stream, ncclComm_t comm, int ranks, Dtype dtype, const void* send,
                 void* receive, const RankParts& parts) {
  const ncclDataType_t type = type_of(dtype);
  const auto part = static_cast<std::size_t>(parts.count);
  OVT_CHECK(ncclGroupStart());
  for (int peer = 0; peer < ranks; ++peer) {
    OVT_CHECK(ncclSend(at(send, peer * parts.send_stride, dtype), part, type, peer, comm, stream));
    OVT_CHECK(
        ncclRecv(at(receive, peer * parts.receive_stride, dtype), part, type, peer, comm, stream));
  }
  OVT_CHECK(ncclGroupEnd());
}

}  // namespace

CommKey route(Collective collective, int ranks, int ctas, Transport transport) {
  const bool is_ring = transport == Transport::ring;
  return {.ranks = ranks,
          .ctas = ctas,
          .symmetric = !is_ring,
          .pairwise = is_ring && collective == Collective::all_to_all,
          .copies = transport == Transport::copy_engine,
          .peers = transport == Transport::peer_access};
}

Expected<void> make_ready(World& world, const CommKey& route) {
  const PeerMemory& memory = world.peer_memory();
  if (route.symmetric && !route.maps_memory() && !memory.not_symmetric().empty()) {
    return bad_input("transport symmetric: " + memory.not_symmetric() +
                     ": choose another transport");
  }
  static_cast<void>(world.comm(route));
  if (!route.maps_memory()) return {};
  constexpr int kMostRanks = std::min(Copies::kMostRanks, kernels::RankFlags::kMostRanks);
  if (route.ranks > kMostRanks) {
    return bad_input(
        fmt::format("transports copy_engine and peer_access: {} ranks: expected at most {}",
                    route.ranks, kMostRanks));
  }
  const bool able = world.rank() >= route.ranks || world.reaches(route);
  if (world.largest(able ? 0 : 1) == 0) return {};
  if (world.capacity() == 0) {
    return bad_input("the world has no memory: call ovt_world_reserve first");
  }
  return bad_input("transports copy_engine and peer_access: " +
                   (able ? "another rank cannot reach the memory of its peers: see its error"
                         : memory.out_of_reach()));
}

void enqueue(cudaStream_t stream, World& world, const CommKey& route, Collective collective,
             Dtype dtype, const void* send, void* receive, std::int64_t count) {
  if (dtype == Dtype::e4m3) {  // it is only moved: as pairs
    return enqueue(stream, world, route, collective, Dtype::bf16, send, receive, count / 2);
  }
  if (route.copies) {
    return enqueue_copies(stream, world, route, collective, send, receive, count * bytes_of(dtype));
  }
  if (route.peers) {
    return enqueue_peers(stream, world, route, collective, dtype, send, receive, count);
  }
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
      if (const auto all_to_all = newer_nccl().all_to_all) {
        OVT_CHECK(all_to_all(send, receive, part, type, comm, stream));
      } else {
        const std::int64_t each = count / route.ranks;
        send_to_all(stream, comm, route.ranks, dtype, send, receive, {each, each, each});
      }
      return;
  }
}

void enqueue_all_to_all(cudaStream_t stream, World& world, const CommKey& route, Dtype dtype,
                        const void* send, void* receive, const RankParts& parts) {
  const bool dense = parts.send_stride == parts.count && parts.receive_stride == parts.count;
  if (dense && route.maps_memory()) {
    return enqueue(stream, world, route, Collective::all_to_all, dtype, send, receive,
                   parts.count * route.ranks);
  }
  const ncclComm_t comm = world.comm(route);
  if (comm == nullptr) return;
  send_to_all(stream, comm, route.ranks, dtype, send, receive, parts);
}

}  // namespace overlaptune::run
