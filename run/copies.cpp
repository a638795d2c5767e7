// An exchange between ranks p and q, as p sees it. Flags of p are written by q and reset by p.
//
//     copies:  tell q "ready"; wait for q's      now earlier results may be overwritten
//              wait for the signal of piece i; copy part q to q; tell q "arrived" i
//     own:     wait for the signal of piece i; move this rank's own part
//     then:    wait for all of q's "arrived"
//
// Lanes may share a hardware queue, in any order that their events allow (in a graph the driver
// chooses one). So each wait for a flag from the peers comes after this rank has written its own
// flags to them; where the two are on different lanes, an event orders them. Then two ranks never
// wait for each other, in whatever order the lanes run.
//
// The own part is moved by more CTAs than the GEMM leaves SMs for, so that they take all SMs once
// the GEMM has ended. An own part that is not moved yet delays no copy to a peer.
//
// A flag is written again only after its reader has reset it: the next exchange of q waits for the
// next "ready" of p, and p writes that after it has seen and reset all flags that q wrote in this
// exchange.

#include "run/copies.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/transport.hpp"
#include "kernels/exchange.hpp"

namespace overlaptune::run {
namespace {

std::byte* at(void* base, std::int64_t bytes) {
  return static_cast<std::byte*>(base) + bytes;
}
const std::byte* at(const void* base, std::int64_t bytes) {
  return static_cast<const std::byte*>(base) + bytes;
}

void copy(cudaStream_t stream, void* to, const void* from, std::int64_t bytes) {
  OVT_CHECK(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream));
}

static_assert((1 + Copies::kMostPieces) * Copies::kMostRanks <=
              static_cast<int>(World::kCopyFlags));

}  // namespace

Copies::Copies(World& world, const CommKey& key, cudaStream_t stream) : world_(world), key_(key) {
  const CopyLanes& lanes = world.copy_lanes();
  OVT_CHECK(cudaEventRecord(lanes.forked.get(), stream));
  OVT_CHECK(cudaStreamWaitEvent(lanes.copies.get(), lanes.forked.get(), 0));
  OVT_CHECK(cudaStreamWaitEvent(lanes.own.get(), lanes.forked.get(), 0));
  tell_peers(on_copies_, Event::ready, 0);
  on_copies_.enqueue(lanes.copies.get());  // before a signal is waited for
  wait_for_peers(on_copies_, Event::ready, 0);
}

std::uint32_t* Copies::flag(int at, Event event, int piece, int from) const {
  const int row = event == Event::ready ? 0 : 1 + piece;
  return world_.flags_of(key_, at) + row * kMostRanks + from;
}

void Copies::push(int peer, int piece, void* to, const void* from, std::int64_t bytes) {
  if (piece < 0 || piece >= kMostPieces) {
    throw Failure(ErrorKind::bad_input,
                  "transport copy_engine: more than " + std::to_string(kMostPieces) + " groups");
  }
  const cudaStream_t lane = world_.copy_lanes().copies.get();
  on_copies_.enqueue(lane);
  copy(lane, there(peer, to), from, bytes);
  on_copies_.write(flag(peer, Event::arrived, piece, world_.rank()), 1);
  on_copies_.enqueue(lane);
}

void Copies::finish_pushes(cudaStream_t stream) {
  const CopyLanes& lanes = world_.copy_lanes();
  on_copies_.enqueue(lanes.copies.get());
  for (const auto& [lane, event] : {std::pair{lanes.copies.get(), lanes.copied.get()},
                                    std::pair{lanes.own.get(), lanes.moved.get()}}) {
    OVT_CHECK(cudaEventRecord(event, lane));
    OVT_CHECK(cudaStreamWaitEvent(stream, event, 0));
  }
}

std::uint32_t* Copies::arrived(const World& world, const CommKey& key, int piece, int from) {
  return world.flags_of(key, world.rank()) + (1 + piece) * kMostRanks + from;
}

std::byte* Copies::there(int rank, void* here) const {
  const std::ptrdiff_t offset = static_cast<std::byte*>(here) - world_.memory();
  if (offset < 0 || static_cast<std::size_t>(offset) >= world_.capacity()) {
    throw Failure(ErrorKind::bad_input,
                  "transport copy_engine: an operand outside of the memory that all ranks share");
  }
  return world_.memory_of(key_, rank) + offset;
}

void Copies::tell_peers(MemoryOperations& operations, Event event, int piece) const {
  for (int peer = 0; peer < key_.ranks; ++peer) {
    if (peer != world_.rank()) operations.write(flag(peer, event, piece, world_.rank()), 1);
  }
}

void Copies::wait_for_peers(MemoryOperations& operations, Event event, int piece) const {
  for (int peer = 0; peer < key_.ranks; ++peer) {
    if (peer == world_.rank()) continue;
    operations.wait(flag(world_.rank(), event, piece, peer), 1);
    operations.write(flag(world_.rank(), event, piece, peer), 0);
  }
}

/// Copies its part to each peer, beginning with the next rank, so that no two ranks begin with the
/// same peer.
void Copies::push_parts(const CopyPiece& piece) const {
  const int me = world_.rank();
  for (int step = 1; step < key_.ranks; ++step) {
    const int peer = (me + step) % key_.ranks;
    copy(world_.copy_lanes().copies.get(), there(peer, at(piece.receive, me * piece.stride)),
         at(piece.send, peer * piece.send_stride), piece.part);
  }
}

void Copies::move_own_part(const CopyPiece& piece) const {
  const int me = world_.rank();
  OVT_CHECK(kernels::move(world_.copy_lanes().own.get(),
                          {.to = at(piece.receive, me * piece.stride),
                           .from = at(piece.send, me * piece.send_stride),
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
  tell_peers(on_copies_, Event::arrived, pieces_);
  on_copies_.enqueue(lanes.copies.get());
  wait_for_peers(at_the_end_, Event::arrived, pieces_);

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
  at_the_end_.enqueue(lanes.own.get());
  OVT_CHECK(cudaEventRecord(lanes.moved.get(), lanes.own.get()));
  OVT_CHECK(cudaStreamWaitEvent(stream, lanes.moved.get(), 0));
}

void enqueue_copies(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                    const void* send, void* receive, std::int64_t bytes) {
  constexpr std::int64_t kMost = 8;
  constexpr std::int64_t kUnit = 16;
  if (world.rank() >= key.ranks) return;  // this rank has no part in it
  Copies copies(world, key, stream);
  const std::int64_t pieces = std::clamp<std::int64_t>(bytes / kCopyPieceBytes, 1, kMost);
  const std::int64_t part = bytes / key.ranks;
  const bool to_all = collective == Collective::all_gather;
  const std::int64_t unit = (part + pieces * kUnit - 1) / (pieces * kUnit) * kUnit;
  for (std::int64_t begin = 0; begin < part; begin += unit) {
    copies.enqueue({.send = at(send, begin),
                    .send_stride = to_all ? 0 : part,
                    .receive = at(receive, begin),
                    .stride = part,
                    .part = std::min(unit, part - begin)},
                   std::nullopt);
  }
  copies.finish(stream);
}

}  // namespace overlaptune::run
