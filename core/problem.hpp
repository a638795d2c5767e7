#pragma once
// A problem: one matrix product of a tensor-parallel layer and the collective that belongs to it.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/names.hpp"
#include "core/base/units.hpp"
#include "core/config/fields.hpp"
#include "core/elements.hpp"
#include "core/ops.hpp"

namespace overlaptune {

/// How a plan is submitted, and whether its world is exclusive: then it begins without a gate where
/// it can (docs/run.md). Part of the key of a winner.
enum class Launch { graph, eager, exclusive_graph, exclusive_eager };

[[nodiscard]] constexpr bool is_eager(Launch launch) {
  return launch == Launch::eager || launch == Launch::exclusive_eager;
}
[[nodiscard]] constexpr bool is_exclusive(Launch launch) {
  return launch == Launch::exclusive_graph || launch == Launch::exclusive_eager;
}
/// A launch in a world of either kind.
[[nodiscard]] constexpr Launch in_world(Launch launch, bool exclusive) {
  if (is_eager(launch)) return exclusive ? Launch::exclusive_eager : Launch::eager;
  return exclusive ? Launch::exclusive_graph : Launch::graph;
}

template <>
struct NamesOf<Launch> {
  static constexpr std::string_view what = "launch";
  static constexpr std::array<Named<Launch>, 4> all{{{Launch::graph, "graph"},
                                                     {Launch::eager, "eager"},
                                                     {Launch::exclusive_graph, "exclusive_graph"},
                                                     {Launch::exclusive_eager, "exclusive_eager"}}};
};

/// A GEMM and its collective. Matrices are row-major: A is m x k, B is n x k (as a linear layer
/// stores its weight), C = A * B^T is m x n. `m, n, k` are what one rank computes: for
/// gemm_all_reduce and gemm_reduce_scatter `k` is already divided among the ranks, for
/// all_gather_gemm `n` is (each rank brings m/ranks rows of A). gemm_all_to_all sends row block j
/// of C to rank j; the output is ordered by source rank. all_to_all_gemm sends row block j of A (m
/// rows, m/ranks for each rank) to rank j before the product: row block i of what rank r multiplies
/// is row block r of rank i's A, and so row block i of r's C (m rows) is that block times r's own
/// B, whose n and k are whole.
struct Problem {
  Op op = Op::gemm_all_reduce;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
  int ranks = 0;
  friend auto operator<=>(const Problem&, const Problem&) = default;
};

inline constexpr std::tuple kProblemFields{Field{"op", &Problem::op},
                                           Field{"m", &Problem::m},
                                           Field{"n", &Problem::n},
                                           Field{"k", &Problem::k},
                                           Field{"dtype", &Problem::elements},
                                           Field{"ranks", &Problem::ranks}};

/// Largest m, n or k.
inline constexpr std::int64_t kLargestSize = (std::int64_t{1} << 31) - 1;
inline constexpr int kMostRanks = 1024;

/// The problem, if every rule holds (sizes in 1..kLargestSize, n a multiple of the elements'
/// `n_multiple`, k of their `k_multiple`, 2..kMostRanks ranks, m a multiple of `ranks` where rows
/// are in blocks); otherwise the error names the field and what is allowed.
[[nodiscard]] Expected<Problem> validated(Problem problem);

/// `OP:M,N,K:dtype:ranks`, for instance `gemm_all_reduce:4096,8192,3584:bf16:8`. Sizes take k/M/G.
[[nodiscard]] Expected<Problem> parse_problem(std::string_view text);

/// The problem in the form that `parse_problem` reads.
[[nodiscard]] std::string to_string(const Problem& problem);

/// Columns of the matrix that the collective works on: those of A (k) or of C (n).
[[nodiscard]] std::int64_t exchanged_columns(const Problem& problem);

/// Type of the elements of that matrix.
[[nodiscard]] Dtype exchanged_dtype(const Problem& problem);

/// Bytes of the whole buffer of the collective: C (m*n elements), or the gathered A (m*k).
[[nodiscard]] Bytes collective_bytes(const Problem& problem);

/// Row blocks that must travel together in equal parts: `ranks`, or 1 where rows are in no blocks.
[[nodiscard]] int row_blocks(const Problem& problem);

/// A number that m is a multiple of: the row blocks; four times as many where rows travel with
/// scales of their own.
[[nodiscard]] std::int64_t row_multiple(const Problem& problem);

/// Rows of A that a rank brings, and rows of C that it gets.
[[nodiscard]] std::int64_t rows_of_a(const Problem& problem);
[[nodiscard]] std::int64_t rows_of_c(const Problem& problem);

[[nodiscard]] inline double flops(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
         static_cast<double>(problem.k);
}

}  // namespace overlaptune
