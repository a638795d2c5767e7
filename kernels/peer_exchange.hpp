#pragma once
// Collectives by loads from the peers' memory: a few CTAs take group after group of a GEMM's
// result, as soon as every rank has it.

#include <array>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <span>

#include "core/problem.hpp"
#include "core/tiling.hpp"

namespace overlaptune::kernels {

/// Part of a row-major matrix of `PeerExchange::n` columns: some rows of every row block (for
/// all_reduce, which has one block, of the matrix), some columns (multiples of 8).
struct PeerPiece {
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::int32_t first_column = 0;
  std::int32_t columns = 0;
  /// Taken once counter `counter` of every rank (`PeerExchange::words`) is at least `value`.
  std::int32_t counter = 0;
  std::uint32_t value = 0;
};

/// Every rank enqueues the same pieces, on as many CTAs.
///
/// reduce_scatter: row block `rank` of all ranks' matrices is added up (in fp32, rounded once) into
/// `result`, a matrix of one block. all_to_all: it is taken from each, to become row block r of
/// `result` where rank r had it. all_reduce: each rank adds up its share of a piece and stores the
/// sum into the matrices of all: the same bits everywhere.
struct PeerExchange {
  static constexpr int kMostRanks = 64;
  static constexpr int kMostCtas = 64;
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 34;  ///< of a piece, less
  static constexpr std::size_t kCounters = kMostRegions;
  /// Words that each rank has for it: counters, which its own GEMM sets back and counts up, and
  /// behind them what the ranks tell each other, zero between two exchanges.
  static constexpr std::size_t kWords = kCounters + 2 * kMostCtas * kMostRanks;

  Collective collective = Collective::reduce_scatter;
  Dtype dtype = Dtype::bf16;
  int rank = 0;
  int ranks = 0;
  std::int64_t n = 0;           ///< columns, a multiple of 8
  std::int64_t block_rows = 0;  ///< of one row block
  /// As mapped here; addresses are multiples of 16 bytes.
  std::array<void*, kMostRanks> matrices{};
  std::array<std::uint32_t*, kMostRanks> words{};
  void* result = nullptr;  ///< not for all_reduce
};

/// On `ctas` CTAs without shared memory; for 2, 4 and 8 ranks one an SM, and fastest. No rank
/// returns from it before all have what they take from it: each may overwrite its matrix then. A
/// wait of more than five minutes ends in an error of the device. At most `kMostRegions` pieces of
/// less than `kMostElements`, `kMostCtas` CTAs.
void exchange(cudaStream_t stream, const PeerExchange& what, std::span<const PeerPiece> pieces,
              int ctas);

}  // namespace overlaptune::kernels
