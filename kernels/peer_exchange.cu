// Each CTA takes shares of pieces from the queue. For each it waits until all ranks have the piece,
// loads the share from all of them, and stores.

#include <utility>

#include "kernels/peer_exchange.hpp"
#include "kernels/sum.cuh"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 512;
/// Loads of one thread that are under way at once: the latency to a peer is long, and a few CTAs
/// must fill the links.
constexpr int kAhead = 16;

struct Arguments {
  device::Run run;
  uint4* matrices[RankFlags::kMostRanks];
  uint4* result;
  std::int64_t pitch;             ///< vectors of a row
  std::int64_t block;             ///< vectors of a row block
  int shares;                     ///< of each piece
  PeerPiece piece[kMostRegions];  ///< columns are counted in vectors
};

/// Loads past L1, which does not see what peers store.
__device__ uint4 load(const uint4* from) {
  uint4 vector;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
               : "l"(from)
               : "memory");
  return vector;
}

/// Stores the result at `offset` of a row block (all_reduce: of the matrix). `PARTS`: the number of
/// ranks.
template <class Two, Collective KIND, int PARTS>
__device__ void store(const Arguments& all, std::int64_t offset, const uint4* parts) {
  if constexpr (KIND == Collective::all_to_all) {
#pragma unroll
    for (int step = 0; step < PARTS; ++step) {
      const int peer = (all.run.rank + step) % PARTS;
      all.result[peer * all.block + offset] = parts[step];
    }
    return;
  }
  Sum<Two> sum;
#pragma unroll
  for (int step = 0; step < PARTS; ++step) sum.add(parts[step]);
  const uint4 rounded = sum.rounded();
  if constexpr (KIND == Collective::reduce_scatter) {
    all.result[offset] = rounded;
  } else {
#pragma unroll
    for (int step = 0; step < PARTS; ++step) {
      all.matrices[(all.run.rank + step) % PARTS][offset] = rounded;
    }
  }
}

/// Loads and stores at `offset` for any number of ranks, one rank after the other.
template <class Two, Collective KIND>
__device__ void take(const Arguments& all, std::int64_t from, std::int64_t offset) {
  Sum<Two> sum;
  for (int step = 0; step < all.run.ranks; ++step) {
    const int peer = (all.run.rank + step) % all.run.ranks;
    const uint4 part = load(all.matrices[peer] + from + offset);
    if constexpr (KIND == Collective::all_to_all) {
      all.result[peer * all.block + offset] = part;
    } else {
      sum.add(part);
    }
  }
  if constexpr (KIND == Collective::reduce_scatter) all.result[offset] = sum.rounded();
  if constexpr (KIND == Collective::all_reduce) {
    for (int step = 0; step < all.run.ranks; ++step) {
      all.matrices[(all.run.rank + step) % all.run.ranks][offset] = sum.rounded();
    }
  }
}

/// Exchanges a share of a piece. `PARTS`: the number of ranks, or 0 for any number.
template <class Two, Collective KIND, int PARTS>
__device__ void take(const Arguments& all, const PeerPiece& piece, int number) {
  constexpr int kAtOnce = PARTS == 0 ? 1 : kAhead / PARTS;
  const auto columns = static_cast<std::uint32_t>(piece.columns);
  const std::uint32_t vectors = columns * static_cast<std::uint32_t>(piece.rows);
  const bool shared_out = KIND == Collective::all_reduce;
  const std::uint32_t own = shared_out ? (vectors + all.run.ranks - 1) / all.run.ranks : vectors;
  const std::uint32_t begin = shared_out ? min(vectors, own * all.run.rank) : 0;
  const std::uint32_t end = min(vectors, begin + own);
  const std::int64_t from = shared_out ? 0 : all.run.rank * all.block;
  const auto offset_of = [&](std::uint32_t vector) {
    const std::uint32_t row = piece.rows == 1 ? 0 : vector / columns;
    return (piece.first_row + std::int64_t{row}) * all.pitch + piece.first_column +
           (vector - row * columns);
  };
  const std::uint32_t step = all.shares * kThreads;
  for (std::uint32_t at = begin + number * kThreads + threadIdx.x; at < end; at += kAtOnce * step) {
    if constexpr (PARTS == 0) {
      take<Two, KIND>(all, from, offset_of(at));
    } else {
      uint4 parts[kAtOnce][PARTS];
      std::int64_t offsets[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (at + i * step >= end) break;
        offsets[i] = offset_of(at + i * step);
#pragma unroll
        for (int peer = 0; peer < PARTS; ++peer) {
          parts[i][peer] = load(all.matrices[(all.run.rank + peer) % PARTS] + from + offsets[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (at + i * step < end) store<Two, KIND, PARTS>(all, offsets[i], parts[i]);
      }
    }
  }
}

template <class Two, Collective KIND, int PARTS>
__global__ void __launch_bounds__(kThreads, 1)
    peer_exchange(const __grid_constant__ Arguments all) {
  const bool last = device::each_item(all.run, [&](int position) {
    const int number = position / all.shares;
    const PeerPiece& piece = all.piece[number];
    if (threadIdx.x < all.run.ranks && piece.value > 0) {
      device::wait_for(all.run, all.run.flags[threadIdx.x]->counters + piece.counter, piece.value,
                       Awaited::counter, static_cast<unsigned>(piece.counter));
    }
    __syncthreads();
    take<Two, KIND, PARTS>(all, piece, position - number * all.shares);
  });
  device::part(all.run, last);
}

using Kernel = void (*)(Arguments);

template <class Two, Collective KIND>
Kernel kernel_for(int ranks) {
  switch (ranks) {
    case 2:
      return peer_exchange<Two, KIND, 2>;
    case 4:
      return peer_exchange<Two, KIND, 4>;
    case 8:
      return peer_exchange<Two, KIND, 8>;
    default:
      return peer_exchange<Two, KIND, 0>;
  }
}

template <class Two>
Kernel kernel_for(Collective collective, int ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return kernel_for<Two, Collective::all_reduce>(ranks);
    case Collective::reduce_scatter:
      return kernel_for<Two, Collective::reduce_scatter>(ranks);
    default:
      return kernel_for<Two, Collective::all_to_all>(ranks);
  }
}

Kernel kernel_of(const PeerExchange& what) {
  switch (what.dtype) {
    case Dtype::bf16:
      return kernel_for<__nv_bfloat162>(what.collective, what.barrier.ranks);
    case Dtype::fp16:
      return kernel_for<__half2>(what.collective, what.barrier.ranks);
    case Dtype::e4m3:  // it is moved as pairs (run/exchange/collective.cpp)
      break;
  }
  return nullptr;
}

}  // namespace

cudaError_t exchange(cudaStream_t stream, const PeerExchange& what,
                     std::span<const PeerPiece> pieces, int ctas) {
  // One share for each CTA, so that a piece is exchanged as soon as it can be.
  const int items = static_cast<int>(pieces.size()) * ctas;
  Arguments all{.run = device::run_of(what.barrier, items, ctas),
                .result = static_cast<uint4*>(what.result),
                .pitch = what.n / kInVector,
                .block = what.block_rows * (what.n / kInVector),
                .shares = ctas};
  for (int rank = 0; rank < what.barrier.ranks; ++rank) {
    all.matrices[rank] = static_cast<uint4*>(what.matrices[static_cast<std::size_t>(rank)]);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    PeerPiece piece = pieces[i];
    piece.first_column /= kInVector;
    piece.columns /= kInVector;
    if (piece.columns == all.pitch) {  // whole rows follow one another
      piece.columns *= std::exchange(piece.rows, 1);
    }
    all.piece[i] = piece;
  }
  return launch(stream, {static_cast<unsigned>(ctas), kThreads}, kernel_of(what), all);
}

}  // namespace overlaptune::kernels
