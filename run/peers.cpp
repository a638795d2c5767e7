#include "run/peers.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/error.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

// The words for kernels of peer access come first, then those for GEMMs that store at ranks.
constexpr std::size_t kStoreWords = World::kCopyFlags + kernels::PeerWords::kCount;
static_assert(kStoreWords * sizeof(std::uint32_t) + sizeof(kernels::StoreWords) <=
              World::kFlags * sizeof(std::uint32_t));
static_assert(kMostPeerElements <= kernels::PeerExchange::kMostElements);

std::uint32_t* words_of(const World& world, const CommKey& key, int rank) {
  return world.flags_of(key, rank) + World::kCopyFlags;
}

}  // namespace

std::ptrdiff_t offset_in(const World& world, const void* operand) {
  const std::ptrdiff_t offset = static_cast<const std::byte*>(operand) - world.memory();
  if (offset < 0 || static_cast<std::size_t>(offset) >= world.capacity()) {
    throw Failure(ErrorKind::bad_input,
                  "transport peer_access: an operand outside of the memory that all ranks share");
  }
  return offset;
}

kernels::StoreWords* store_words(const World& world, const CommKey& key, int rank) {
  return reinterpret_cast<kernels::StoreWords*>(world.flags_of(key, rank) + kStoreWords);
}

std::uint32_t* peer_counters(const World& world, const CommKey& key) {
  return words_of(world, key, world.rank());
}

void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerMatrix& what,
                   std::span<const kernels::PeerPiece> pieces) {
  const std::ptrdiff_t offset = offset_in(world, what.matrix);
  const bool fit = std::all_of(pieces.begin(), pieces.end(), [](const kernels::PeerPiece& piece) {
    return std::int64_t{piece.rows} * piece.columns < kernels::PeerExchange::kMostElements;
  });
  if (!fit || pieces.size() > kMostRegions) {
    throw Failure(ErrorKind::bad_input, "transport peer_access: too large a group, or more than " +
                                            std::to_string(kMostRegions) + " regions");
  }
  kernels::PeerExchange exchange{.collective = what.collective,
                                 .dtype = what.dtype,
                                 .rank = world.rank(),
                                 .ranks = key.ranks,
                                 .n = what.n,
                                 .block_rows = what.block_rows,
                                 .result = what.result};
  for (int rank = 0; rank < key.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    exchange.matrices[r] = world.memory_of(key, rank) + offset;
    exchange.words[r] = words_of(world, key, rank);
  }
  kernels::exchange(stream, exchange, pieces, key.ctas);
  OVT_CHECK(cudaGetLastError());
}

void push_to_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerRows& what,
                   std::span<const kernels::PushedRows> pieces) {
  const std::ptrdiff_t offset = offset_in(world, what.matrix);
  const bool fit = std::all_of(pieces.begin(), pieces.end(), [&](const auto& piece) {
    return piece.rows * what.row_bytes < kernels::PeerPush::kMostBytes;
  });
  if (!fit || pieces.size() > kMostRegions) {
    throw Failure(ErrorKind::bad_input, "transport peer_access: too large a group, or more than " +
                                            std::to_string(kMostRegions) + " groups");
  }
  kernels::PeerPush push{.rank = world.rank(),
                         .ranks = key.ranks,
                         .row_bytes = what.row_bytes,
                         .block_rows = what.block_rows,
                         .source = what.source};
  for (int rank = 0; rank < key.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    push.matrices[r] = world.memory_of(key, rank) + offset;
    push.words[r] = words_of(world, key, rank);
  }
  kernels::push(stream, push, pieces, key.ctas);
  OVT_CHECK(cudaGetLastError());
}

void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                   Dtype dtype, const void* send, void* receive, std::int64_t count) {
  if (world.rank() >= key.ranks) return;  // this rank has no part in it
  // A matrix of eight columns, so that its sizes are small numbers.
  constexpr std::int64_t kColumns = 8;
  const std::int64_t block = collective == Collective::all_reduce ? count : count / key.ranks;
  if (block >= kernels::PeerExchange::kMostElements) {
    throw Failure(ErrorKind::bad_input, "transport peer_access: too large a collective");
  }
  const auto rows = static_cast<std::int32_t>(block / kColumns);
  if (collective == Collective::all_gather) {
    const kernels::PushedRows whole{.rows = rows};
    push_to_peers(stream, world, key,
                  {.row_bytes = kColumns * bytes_of(dtype),
                   .block_rows = rows,
                   .source = send,
                   .matrix = receive},
                  std::span(&whole, 1));
    return;
  }
  const kernels::PeerPiece whole{.rows = rows, .columns = kColumns};
  const bool in_place =
      collective == Collective::all_reduce;  // the others only read what they send
  enqueue_peers(stream, world, key,
                {.collective = collective,
                 .dtype = dtype,
                 .n = kColumns,
                 .block_rows = rows,
                 .matrix = in_place ? receive : const_cast<void*>(send),
                 .result = receive},
                std::span(&whole, 1));
}

}  // namespace overlaptune::run
