// An exchange between ranks p and q, as p sees it. Flags of p are written by q and reset by p.
//
//     copies:  the gate                          now earlier results may be overwritten
//              wait for the signal of piece i; copy part q to q; raise q's flag i
//     own:     wait for the signal of piece i; move this rank's own part
//     then:    wait for all flags that q raises; lower them
//
// Lanes may share a hardware queue, in any order that their events allow (in a graph the driver
// chooses one). So what waits for a peer is a kernel of one warp, which needs no place at the head
// of a queue; the driver waits only for this rank's own GEMM, which waits for nobody.
//
// The own part is moved by more CTAs than the GEMM leaves SMs for, so that they take all SMs once
// the GEMM has ended. An own part that is not moved yet delays no copy to a peer.
//
// A flag is raised again only behind the gate of the next exchange, which p reaches after it has
// lowered all flags that q raised in this one.

#include "run/exchange/copies.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/transport.hpp"
#include "kernels/exchange.hpp"
#include "kernels/gate.hpp"
#include "run/exchange/peers.hpp"

namespace overlaptune::run {
static_assert(Copies::kMostPieces * Copies::kMostRanks <= static_cast<int>(World::kCopyFlags));

void copy(cudaStream_t stream, void* to, const void* from, std::int64_t bytes) {
  OVT_CHECK(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream));
}

Copies::Copies(World& world, const CommKey& key, cudaStream_t stream, Begin begin)
    : world_(world),
      key_(key),
      fork_(stream, world.copy_lanes().forked.get(),
            {{world.copy_lanes().copies.get(), world.copy_lanes().copied.get()},
             {world.copy_lanes().own.get(), world.copy_lanes().moved.get()}}) {
  if (begin == Begin::gate) {
    enqueue_gate(world.copy_lanes().copies.get(), world, key, kernels::Counters::keep);
  }
}

std::uint32_t* Copies::flag(int at, int piece, int from) const {
  return world_.flags_of(key_, at) + piece * kMostRanks + from;
}

void Copies::tell_peers(int piece) {
  for (int peer = 0; peer < key_.ranks; ++peer) {
    if (peer != world_.rank()) on_copies_.write(flag(peer, piece, world_.rank()), 1);
  }
}

/// Copies its part to each peer, beginning with the next rank, so that no two ranks begin with the
/// same peer.
void Copies::push_parts(const CopyPiece& piece) const {
  const int me = world_.rank();
  for (int step = 1; step < key_.ranks; ++step) {
    const int peer = (me + step) % key_.ranks;
    copy(world_.copy_lanes().copies.get(),
         there(world_, key_, peer, piece.receive + me * piece.stride),
         piece.send + peer * piece.send_stride, piece.part);
  }
}

void Copies::move_own_part(const CopyPiece& piece) const {
  const int me = world_.rank();
  OVT_CHECK(kernels::move(world_.copy_lanes().own.get(),
                          {.to = piece.receive + me * piece.stride,
                           .from = piece.send + me * piece.send_stride,
                           .row_bytes = piece.part},
                          key_.ctas == kAnySms ? kernels::kCtasOfAnySms : key_.ctas));
}

void Copies::enqueue(const CopyPiece& piece, const std::optional<Signal>& signal) {
  if (pieces_ == kMostPieces) {
    throw Failure(ErrorKind::bad_input,
                  "transport copy_engine: more than " + std::to_string(kMostPieces) + " groups");
  }
  const CopyLanes& lanes = world_.copy_lanes();
  if (signal) on_copies_.wait(signal->counter, signal->value);
  on_copies_.enqueue(lanes.copies.get());
  push_parts(piece);
  tell_peers(pieces_);
  on_copies_.enqueue(lanes.copies.get());

  MemoryOperations on_own;
  if (signal) on_own.wait(signal->counter, signal->value);
  on_own.enqueue(lanes.own.get());
  move_own_part(piece);
  ++pieces_;
}

void Copies::finish(cudaStream_t stream) {
  const CopyLanes& lanes = world_.copy_lanes();
  OVT_CHECK(cudaEventRecord(lanes.copied.get(), lanes.copies.get()));
  OVT_CHECK(cudaStreamWaitEvent(lanes.own.get(), lanes.copied.get(), 0));
  OVT_CHECK(kernels::wait_for_flags(
      lanes.own.get(), world_.barrier(key_),
      {.first = world_.flags_of(key_, world_.rank()), .rows = pieces_, .stride = kMostRanks}));
  OVT_CHECK(cudaEventRecord(lanes.moved.get(), lanes.own.get()));
  OVT_CHECK(cudaStreamWaitEvent(stream, lanes.moved.get(), 0));
  fork_.dismiss();
}

void enqueue_copies(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                    const void* send, void* receive, std::int64_t bytes) {
  constexpr std::int64_t kMostPieces = 8;
  constexpr std::int64_t kUnit = 16;
  if (world.rank() >= key.ranks) return;  // this rank has no part in it
  Copies copies(world, key, stream, Copies::Begin::gate);
  const std::int64_t pieces = std::clamp<std::int64_t>(bytes / kCopyPieceBytes, 1, kMostPieces);
  const std::int64_t part = bytes / key.ranks;
  const bool to_all = collective == Collective::all_gather;
  const std::int64_t unit = (part + pieces * kUnit - 1) / (pieces * kUnit) * kUnit;
  for (std::int64_t begin = 0; begin < part; begin += unit) {
    copies.enqueue({.send = static_cast<const std::byte*>(send) + begin,
                    .send_stride = to_all ? 0 : part,
                    .receive = static_cast<std::byte*>(receive) + begin,
                    .stride = part,
                    .part = std::min(unit, part - begin)},
                   std::nullopt);
  }
  copies.finish(stream);
}

}  // namespace overlaptune::run
