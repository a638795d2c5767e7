// Each CTA takes shares of steps from the queue (peer_steps.cuh). For each it waits until all ranks
// have the piece, or its sums, loads the share from them, and stores into this rank's memory.

#include <algorithm>
#include <utility>

#include "kernels/peer_exchange.hpp"
#include "kernels/peer_steps.cuh"
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
  int shares;                     ///< of each step
  PeerPiece piece[kMostRegions];  ///< columns are counted in vectors
  PeerStep step[2 * kMostRegions];
};

/// The vectors of a piece, by their numbers.
struct Vectors {
  const PeerPiece& piece;
  std::int64_t pitch;
  device::Divisor columns;
  std::uint32_t all;

  __device__ Vectors(const Arguments& of, const PeerPiece& own)
      : piece(own),
        pitch(of.pitch),
        columns(static_cast<std::uint32_t>(own.columns)),
        all(columns.by * static_cast<std::uint32_t>(own.rows)) {}

  /// The place of a vector in a row block.
  __device__ std::int64_t offset(std::uint32_t vector) const {
    const std::uint32_t row = columns.quotient(vector);
    return (piece.first_row + std::int64_t{row}) * pitch + piece.first_column +
           (vector - row * columns.by);
  }
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
  all.result[offset] = rounded;
  if constexpr (KIND == Collective::all_reduce) all.matrices[all.run.rank][offset] = rounded;
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
  if constexpr (KIND != Collective::all_to_all) all.result[offset] = sum.rounded();
  if constexpr (KIND == Collective::all_reduce) {
    all.matrices[all.run.rank][offset] = sum.rounded();
  }
}

/// Exchanges a share of a piece; all_reduce: of this rank's part of it. `PARTS`: the number of
/// ranks, or 0 for any number.
template <class Two, Collective KIND, int PARTS>
__device__ void take(const Arguments& all, const Vectors& vectors, int number) {
  constexpr int kAtOnce = PARTS == 0 ? 1 : kAhead / PARTS;
  constexpr bool kDivided = KIND == Collective::all_reduce;
  const std::uint32_t own =
      kDivided ? device::owned_vectors(vectors.all, all.run.ranks) : vectors.all;
  const std::uint32_t begin = kDivided ? min(vectors.all, own * all.run.rank) : 0;
  const std::uint32_t end = min(vectors.all, begin + own);
  const std::int64_t from = kDivided ? 0 : all.run.rank * all.block;
  const std::uint32_t step = all.shares * kThreads;
  for (std::uint32_t at = begin + number * kThreads + threadIdx.x; at < end; at += kAtOnce * step) {
    if constexpr (PARTS == 0) {
      take<Two, KIND>(all, from, vectors.offset(at));
    } else {
      // Zeros, here and below: what is loaded under a condition would else be kept from item to
      // item.
      uint4 parts[kAtOnce][PARTS] = {};
      std::int64_t offsets[kAtOnce] = {};
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (at + i * step >= end) break;
        offsets[i] = vectors.offset(at + i * step);
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

/// Fetches a share of the peers' sums of a piece.
__device__ void fetch(const Arguments& all, const Vectors& vectors, int number) {
  constexpr std::uint32_t kNone = 0xffffffff;
  const std::uint32_t owned = device::owned_vectors(vectors.all, all.run.ranks);
  const device::Divisor peers(all.run.ranks - 1);
  const std::uint32_t blocks = peers.by * ((owned + kThreads - 1) / kThreads);
  for (std::uint32_t block = number; block < blocks; block += kAhead * all.shares) {
    uint4 sums[kAhead] = {};
    std::uint32_t offsets[kAhead];  // a matrix has fewer vectors: `kMostElements`
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const auto [owner, first] =
          device::fetched_block(all.run.rank, peers, block + i * all.shares, kThreads);
      const std::uint32_t at = first + threadIdx.x;
      const std::uint32_t vector = owner * owned + at;
      offsets[i] = at < owned && vector < vectors.all
                       ? static_cast<std::uint32_t>(vectors.offset(vector))
                       : kNone;
      if (offsets[i] != kNone) sums[i] = load(all.matrices[owner] + offsets[i]);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (offsets[i] != kNone) all.result[offsets[i]] = sums[i];
    }
  }
}

/// Waits until all ranks have a piece, or all peers have its sums.
__device__ void wait_for_step(const Arguments& all, PeerStep step) {
  const int rank = static_cast<int>(threadIdx.x);
  if (rank < all.run.ranks) {
    const device::RankFlags* const flags = all.run.flags[rank];
    const PeerPiece& piece = all.piece[step.piece];
    if (step.fetches) {
      device::wait_for(all.run, flags->added + step.piece, all.shares, Awaited::added, rank);
    } else if (piece.value > 0) {
      device::wait_for(all.run, flags->counters + piece.counter, piece.value, Awaited::counter,
                       static_cast<unsigned>(piece.counter));
    }
  }
  __syncthreads();
}

template <class Two, Collective KIND, int PARTS>
__global__ void __launch_bounds__(kThreads, 1)
    peer_exchange(const __grid_constant__ Arguments all) {
  constexpr bool kSumsAll = KIND == Collective::all_reduce;
  device::RankFlags* const own = device::own_flags(all.run);
  const bool last = device::each_item(all.run, [&](int position) {
    const PeerStep step = all.step[position / all.shares];
    const int number = position % all.shares;
    const Vectors vectors(all, all.piece[step.piece]);
    wait_for_step(all, step);
    if (kSumsAll && step.fetches) return fetch(all, vectors, number);
    take<Two, KIND, PARTS>(all, vectors, number);
    if (!kSumsAll) return;
    __syncthreads();
    if (threadIdx.x == 0) device::increment(own->added + step.piece, 1);
  });
  device::part(all.run, last);
  if (!kSumsAll || !last) return;
  __syncthreads();  // the peers have ended: nobody looks at these words until the next run
  if (threadIdx.x < device::RankFlags::kCounters) own->added[threadIdx.x] = 0;
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
  }
  return nullptr;
}

}  // namespace

cudaError_t exchange(cudaStream_t stream, const PeerExchange& what,
                     std::span<const PeerPiece> pieces, int ctas) {
  const bool sums_all = what.collective == Collective::all_reduce;
  const std::int64_t pitch = what.n / kInVector;
  std::vector<PeerPiece> parts(pieces.begin(), pieces.end());
  for (PeerPiece& part : parts) {
    part.first_column /= kInVector;
    part.columns /= kInVector;
    if (part.columns == pitch) part.columns *= std::exchange(part.rows, 1);  // whole rows
  }
  // A half keeps all threads busy.
  const std::int64_t large = std::int64_t{2} * ctas * kThreads * kAhead;
  if (sums_all && 2 * parts.size() <= kMostRegions) parts = in_halves(parts, large);
  const std::vector<PeerStep> steps = steps_of(parts, sums_all);
  // One share for each CTA, so that a piece is exchanged as soon as it can be.
  const int items = static_cast<int>(steps.size()) * ctas;
  Arguments all{.run = device::run_of(what.barrier, items, ctas),
                .result = static_cast<uint4*>(what.result),
                .pitch = pitch,
                .block = what.block_rows * pitch,
                .shares = ctas};
  for (int rank = 0; rank < what.barrier.ranks; ++rank) {
    all.matrices[rank] = static_cast<uint4*>(what.matrices[static_cast<std::size_t>(rank)]);
  }
  std::ranges::copy(parts, all.piece);
  std::ranges::copy(steps, all.step);
  return launch(stream, {static_cast<unsigned>(ctas), kThreads}, kernel_of(what), all);
}

}  // namespace overlaptune::kernels
