#include "run/exchange/peers.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/check.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

static_assert(kMostPeerElements <= kernels::PeerExchange::kMostElements);

[[noreturn]] void refuse_size() {
  throw Failure(ErrorKind::bad_input, "transport peer_access: too large a collective");
}

}  // namespace

std::ptrdiff_t offset_in(const World& world, const void* operand) {
  const std::ptrdiff_t offset = static_cast<const std::byte*>(operand) - world.memory();
  if (offset < 0 || static_cast<std::size_t>(offset) >= world.capacity()) {
    throw Failure(ErrorKind::bad_input,
                  "transports copy_engine and peer_access: an operand outside of the memory that "
                  "all ranks share");
  }
  return offset;
}

std::byte* there(const World& world, const CommKey& key, int peer, const void* here) {
  return world.memory_of(key, peer) + offset_in(world, here);
}

kernels::Before enqueue_gate(cudaStream_t stream, const World& world, const CommKey& key,
                             kernels::Counters counters, const void* placed) {
  const kernels::RankBarrier barrier =
      placed == nullptr ? world.barrier(key) : barrier_with(world, key, placed);
  OVT_CHECK(kernels::gate(stream, barrier, counters));
  return kernels::Before::gate;
}

kernels::RankBarrier barrier_with(const World& world, const CommKey& key, const void* placed) {
  constexpr std::ptrdiff_t kUnit = kernels::device::kPlaceBytes;
  const bool is_result = world.results() && world.results()->has(placed, 1);
  const std::ptrdiff_t offset =
      is_result ? static_cast<const std::byte*>(placed) - world.results()->begin()
                : offset_in(world, placed);
  if (offset % kUnit != 0 || offset / kUnit >= std::numeric_limits<std::int32_t>::max()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("an operand that ranks exchange, {} bytes behind the begin of the "
                              "memory that they share: expected a multiple of {}",
                              offset, kUnit));
  }
  kernels::RankBarrier barrier = world.barrier(key);
  barrier.place =
      kernels::device::placed_in(is_result ? 1 : 0, static_cast<std::uint32_t>(offset / kUnit));
  return barrier;
}

void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerMatrix& what,
                   std::span<const kernels::PeerPiece> pieces) {
  const bool fit = std::all_of(pieces.begin(), pieces.end(), [](const kernels::PeerPiece& piece) {
    return std::int64_t{piece.rows} * piece.columns < kernels::PeerExchange::kMostElements;
  });
  if (!fit || pieces.size() > kMostRegions) {
    throw Failure(ErrorKind::bad_input, "transport peer_access: too large a group, or more than " +
                                            std::to_string(kMostRegions) + " regions");
  }
  kernels::PeerExchange exchange{.barrier = barrier_with(world, key, what.matrix),
                                 .collective = what.collective,
                                 .dtype = what.dtype,
                                 .n = what.n,
                                 .block_rows = what.block_rows,
                                 .result = what.result};
  for (int rank = 0; rank < key.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    exchange.matrices[r] = rank == world.rank() ? what.matrix : world.memory_of(key, rank);
    exchange.results[r] = world.results_of(key, rank);
  }
  OVT_CHECK(kernels::exchange(stream, exchange, pieces, key.ctas));
}

void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                   Dtype dtype, const void* send, void* receive, std::int64_t count) {
  if (world.rank() >= key.ranks) return;  // this rank has no part in it
  const bool places = collective != Collective::all_gather;
  enqueue_gate(stream, world, key, kernels::Counters::reset, places ? send : nullptr);
  if (collective == Collective::all_gather) {
    kernels::PeerPush push{.barrier = world.barrier(key),
                           .bytes = count / key.ranks * bytes_of(dtype),
                           .source = send};
    if (push.bytes >= kernels::PeerPush::kMostBytes) refuse_size();
    for (int rank = 0; rank < key.ranks; ++rank) {
      push.matrices[static_cast<std::size_t>(rank)] = there(world, key, rank, receive);
    }
    OVT_CHECK(kernels::push(stream, push, key.ctas));
    return;
  }
  // A matrix of eight columns, so that its sizes are small numbers.
  constexpr std::int64_t kColumns = 8;
  const std::int64_t block = collective == Collective::all_reduce ? count : count / key.ranks;
  if (block >= kernels::PeerExchange::kMostElements) refuse_size();
  const auto rows = static_cast<std::int32_t>(block / kColumns);
  const kernels::PeerPiece whole{.rows = rows, .columns = kColumns};
  enqueue_peers(stream, world, key,
                {.collective = collective,
                 .dtype = dtype,
                 .n = kColumns,
                 .block_rows = rows,
                 .matrix = const_cast<void*>(send),  // which all_reduce overwrites
                 .result = collective == Collective::all_reduce ? nullptr : receive},
                std::span(&whole, 1));
}

}  // namespace overlaptune::run
