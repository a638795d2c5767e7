#pragma once
// Collectives by loads from the peers' memory: a few CTAs exchange one wave group of a GEMM's
// result after the other, each as soon as every rank has it.

#include <array>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <span>

#include "core/problem.hpp"
#include "kernels/rank_barrier.hpp"

namespace overlaptune::kernels {

/// Part of a row-major matrix of `PeerExchange::n` columns: some rows of every row block, and some
/// columns (`first_column` and `columns` are multiples of 8). all_reduce has one row block, the
/// matrix.
struct PeerPiece {
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::int32_t first_column = 0;
  std::int32_t columns = 0;
  /// The piece is exchanged once counter `counter` of every rank is at least `value`.
  std::int32_t counter = 0;
  std::uint32_t value = 0;
};

/// An exchange. Every rank enqueues the same pieces, on the same number of CTAs.
///
/// reduce_scatter: row block `rank` of all ranks' matrices is added up (in fp32, rounded once) into
/// `result`, a matrix of one block. all_to_all: row block `rank` of rank r's matrix becomes row
/// block r of `result`. all_reduce: each rank adds up its share of a piece and stores the sums into
/// the matrices of all, so that all have the same bits.
struct PeerExchange {
  /// A piece has fewer elements than this.
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 34;

  RankBarrier barrier{};
  Collective collective = Collective::reduce_scatter;
  Dtype dtype = Dtype::bf16;
  std::int64_t n = 0;           ///< columns, a multiple of 8
  std::int64_t block_rows = 0;  ///< rows of one row block
  /// Every rank's matrix, by its address on this GPU (a multiple of 16 bytes). With a place in
  /// `barrier`, the begins of the two parts of the peers' memory, from which their places count.
  std::array<void*, RankFlags::kMostRanks> matrices{};
  std::array<void*, RankFlags::kMostRanks> results{};
  void* result = nullptr;  ///< any memory of this GPU; null for all_reduce
};

/// Enqueues an exchange, on `ctas` CTAs with next to no shared memory, behind a gate
/// (kernels/gate.hpp). With 2, 4 or 8 ranks an SM runs one of them, and the kernel is fastest. It
/// ends on no rank before all have what they take from that rank, so each rank may overwrite its
/// matrix afterwards. One CTA that runs is enough. There are at most `kMostRegions` pieces of less
/// than `kMostElements` elements. Returns the status of the launch.
[[nodiscard]] cudaError_t exchange(cudaStream_t stream, const PeerExchange& what,
                                   std::span<const PeerPiece> pieces, int ctas);

}  // namespace overlaptune::kernels
