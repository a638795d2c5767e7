// Each CTA takes shares of pieces from the queue. For each it waits until all ranks have the piece,
// loads the share from all of them, and stores.

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <utility>

#include "kernels/peer_exchange.hpp"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kInVector = 8;  // bf16 or fp16 elements

template <class Two>
__device__ float2 wide(Two pair);
template <>
__device__ float2 wide(__nv_bfloat162 pair) {
  return __bfloat1622float2(pair);
}
template <>
__device__ float2 wide(__half2 pair) {
  return __half22float2(pair);
}

template <class Two>
__device__ Two narrow(float2 pair);
template <>
__device__ __nv_bfloat162 narrow(float2 pair) {
  return __float22bfloat162_rn(pair);
}
template <>
__device__ __half2 narrow(float2 pair) {
  return __float22half2_rn(pair);
}

/// The sum of vectors, in fp32. `Two`: the type of a pair of elements.
template <class Two>
struct Sum {
  float2 pairs[kInVector / 2] = {};

  __device__ void add(const uint4& vector) {
    const auto* more = reinterpret_cast<const Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) {
      const float2 pair = wide<Two>(more[i]);
      pairs[i].x += pair.x;
      pairs[i].y += pair.y;
    }
  }

  __device__ uint4 rounded() const {
    uint4 vector;
    auto* to = reinterpret_cast<Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) to[i] = narrow<Two>(pairs[i]);
    return vector;
  }
};

/// The piece with columns counted in vectors of 16 bytes; `pitch`: the vectors of a row.
PeerPiece in_vectors(PeerPiece piece, std::int64_t pitch) {
  piece.first_column /= kInVector;
  piece.columns /= kInVector;
  if (piece.columns == pitch)
    piece.columns *= std::exchange(piece.rows, 1);  // rows follow one another
  return piece;
}

/// The offsets, in the matrix, of vectors of a piece that are `step` apart.
class Walk {
 public:
  __device__ Walk(std::int64_t pitch, const PeerPiece& piece, std::uint32_t first,
                  std::uint32_t step)
      : pitch_(pitch),
        begin_(piece.first_row * pitch + piece.first_column),
        columns_(static_cast<std::uint32_t>(piece.columns)),
        rows_(static_cast<int>(step / columns_)),
        rest_(step % columns_),
        row_(static_cast<int>(first / columns_)),
        column_(first % columns_) {}

  /// Another walk over these offsets, which the compiler does not keep from one walk to the other.
  __device__ Walk once_more() const {
    Walk again = *this;
    device::hide(again.row_);
    return again;
  }

  __device__ std::int64_t next() {
    const std::int64_t offset = begin_ + row_ * pitch_ + column_;
    row_ += rows_;
    column_ += rest_;
    if (column_ >= columns_) {
      column_ -= columns_;
      ++row_;
    }
    return offset;
  }

 private:
  std::int64_t pitch_;
  std::int64_t begin_;
  std::uint32_t columns_;
  int rows_;  // of a step
  std::uint32_t rest_;
  int row_;
  std::uint32_t column_;
};

constexpr int kThreads = 512;
/// Loads of one thread that are under way at once: the latency to a peer is long, and a few CTAs
/// must fill the links.
constexpr int kAhead = 16;

struct Arguments {
  device::Run run;
  /// Where the places of each rank's matrix are counted from.
  uint4* from[RankFlags::kMostRanks][device::kParts];
  uint4* result;
  std::int64_t pitch;             ///< vectors of a row
  std::int64_t block;             ///< vectors of a row block
  int shares;                     ///< of each piece
  PeerPiece piece[kMostRegions];  ///< columns are counted in vectors
};

/// Every rank's matrix.
__device__ uint4*& matrix_of(int rank) {
  __shared__ uint4* matrices[RankFlags::kMostRanks];
  return matrices[rank];
}

__device__ void find_matrices(const Arguments& all) {
  constexpr std::int64_t kUnit = device::kPlaceBytes / sizeof(uint4);
  const int rank = static_cast<int>(threadIdx.x);
  if (rank < all.run.ranks) {
    const device::u32 place = device::place_at(all.run, rank);
    matrix_of(rank) = all.from[rank][device::part_of(place)] + device::units_of(place) * kUnit;
  }
  __syncthreads();
}

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
template <class Two, Collective WORK, int PARTS>
__device__ void store(const Arguments& all, std::int64_t offset, const uint4* parts) {
  if constexpr (WORK == Collective::all_to_all) {
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
  if constexpr (WORK == Collective::reduce_scatter) {
    all.result[offset] = rounded;
  } else {
#pragma unroll
    for (int step = 0; step < PARTS; ++step) {
      matrix_of((all.run.rank + step) % PARTS)[offset] = rounded;
    }
  }
}

/// Loads and stores at `offset` for any number of ranks, one rank after the other.
template <class Two, Collective WORK>
__device__ void take(const Arguments& all, std::int64_t from, std::int64_t offset) {
  Sum<Two> sum;
  for (int step = 0; step < all.run.ranks; ++step) {
    const int peer = (all.run.rank + step) % all.run.ranks;
    const uint4 part = load(matrix_of(peer) + from + offset);
    if constexpr (WORK == Collective::all_to_all) {
      all.result[peer * all.block + offset] = part;
    } else {
      sum.add(part);
    }
  }
  if constexpr (WORK == Collective::all_to_all) return;
  const uint4 rounded = sum.rounded();
  if constexpr (WORK == Collective::reduce_scatter) {
    all.result[offset] = rounded;
  } else {
    for (int step = 0; step < all.run.ranks; ++step) {  // this rank comes first
      matrix_of((all.run.rank + step) % all.run.ranks)[offset] = rounded;
    }
  }
}

/// The vectors of a piece, and of the share of it that each rank adds up (all_reduce).
struct Vectors {
  std::uint32_t all;
  std::uint32_t of_rank;

  __device__ Vectors(const Arguments& what, const PeerPiece& piece)
      : all(static_cast<std::uint32_t>(piece.columns) * static_cast<std::uint32_t>(piece.rows)),
        of_rank((all + what.run.ranks - 1) / what.run.ranks) {}
  __device__ std::uint32_t begin(int rank) const { return min(all, of_rank * rank); }
};

/// Exchanges a share of a piece. `PARTS`: the number of ranks, or 0 for any number.
template <class Two, Collective WORK, int PARTS>
__device__ void take(const Arguments& all, const PeerPiece& piece, int number) {
  constexpr int kAtOnce = PARTS == 0 ? 1 : kAhead / PARTS;
  const Vectors vectors(all, piece);
  constexpr bool shared_out = WORK == Collective::all_reduce;
  const std::uint32_t begin = shared_out ? vectors.begin(all.run.rank) : 0;
  const std::uint32_t end = shared_out ? vectors.begin(all.run.rank + 1) : vectors.all;
  const std::int64_t from = shared_out ? 0 : all.run.rank * all.block;
  const std::uint32_t step = all.shares * kThreads;
  const std::uint32_t first = begin + number * kThreads + threadIdx.x;
  Walk walk(all.pitch, piece, first, step);
  for (std::uint32_t at = first; at < end; at += kAtOnce * step) {
    if constexpr (PARTS == 0) {
      take<Two, WORK>(all, from, walk.next());
    } else {
      uint4 parts[kAtOnce][PARTS];
      Walk stores = walk.once_more();  // registers are few
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (at + i * step >= end) break;
        const std::int64_t offset = walk.next();
#pragma unroll
        for (int peer = 0; peer < PARTS; ++peer) {
          parts[i][peer] = load(matrix_of((all.run.rank + peer) % PARTS) + from + offset);
        }
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (at + i * step < end) store<Two, WORK, PARTS>(all, stores.next(), parts[i]);
      }
    }
  }
}

template <class Two, Collective WORK, int PARTS>
__global__ void __launch_bounds__(kThreads, 1)
    peer_exchange(const __grid_constant__ Arguments all) {
  find_matrices(all);
  const bool last = device::each_item(all.run, [&](int position) {
    const PeerPiece& piece = all.piece[position / all.shares];
    if (threadIdx.x < all.run.ranks && piece.value > 0) {
      device::wait_for(all.run, all.run.flags[threadIdx.x]->counters + piece.counter, piece.value,
                       Awaited::counter, static_cast<unsigned>(piece.counter));
    }
    __syncthreads();
    take<Two, WORK, PARTS>(all, piece, position % all.shares);
  });
  device::part(all.run, last);
}

using Kernel = void (*)(Arguments);

template <class Two, Collective WORK>
Kernel kernel_for(int ranks) {
  switch (ranks) {
    case 2:
      return peer_exchange<Two, WORK, 2>;
    case 4:
      return peer_exchange<Two, WORK, 4>;
    case 8:
      return peer_exchange<Two, WORK, 8>;
    default:
      return peer_exchange<Two, WORK, 0>;
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
    const auto r = static_cast<std::size_t>(rank);
    all.from[rank][0] = static_cast<uint4*>(what.matrices[r]);
    all.from[rank][1] = static_cast<uint4*>(what.results[r]);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    all.piece[i] = in_vectors(pieces[i], all.pitch);
  }
  return launch(stream, {static_cast<unsigned>(ctas), kThreads}, kernel_of(what), all);
}

}  // namespace overlaptune::kernels
