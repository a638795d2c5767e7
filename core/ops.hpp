#pragma once
// The ops: what the collective of each does to the rows of its GEMM, one row an op. Everybody who
// needs to know asks the row; nobody asks which op it is.

#include <array>
#include <string_view>

#include "core/base/names.hpp"

namespace overlaptune {

enum class Op {
  gemm_all_reduce,
  gemm_reduce_scatter,
  all_gather_gemm,
  gemm_all_to_all,
  all_to_all_gemm
};

enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all };

template <>
struct NamesOf<Op> {
  static constexpr std::string_view what = "op";
  static constexpr std::array<Named<Op>, 5> all{{{Op::gemm_all_reduce, "gemm_all_reduce"},
                                                 {Op::gemm_reduce_scatter, "gemm_reduce_scatter"},
                                                 {Op::all_gather_gemm, "all_gather_gemm"},
                                                 {Op::gemm_all_to_all, "gemm_all_to_all"},
                                                 {Op::all_to_all_gemm, "all_to_all_gemm"}}};
};

template <>
struct NamesOf<Collective> {
  static constexpr std::string_view what = "collective";
  static constexpr std::array<Named<Collective>, 4> all{
      {{Collective::all_reduce, "all_reduce"},
       {Collective::reduce_scatter, "reduce_scatter"},
       {Collective::all_gather, "all_gather"},
       {Collective::all_to_all, "all_to_all"}}};
};

struct OpTraits {
  Op op{};
  Collective collective{};
  /// The collective brings rows of A to the GEMM; otherwise it takes rows of C from it.
  bool exchanges_first = false;
  bool sums = false;        ///< the collective adds up rows of all ranks; otherwise it moves rows
  bool row_blocks = false;  ///< rows travel in one block for each rank, so m is a multiple of them
  bool a_is_block = false;  ///< a rank's A is its own row block of all rows
  bool c_is_block = false;  ///< likewise its C

  /// Whether each rank's C is all of the result, so that the collective works where the GEMM does.
  [[nodiscard]] constexpr bool in_place() const { return sums && !row_blocks; }
};

/// The traits of every op, in the order of `Op`.
inline constexpr std::array<OpTraits, 5> kOps{{
    {.op = Op::gemm_all_reduce, .collective = Collective::all_reduce, .sums = true},
    {.op = Op::gemm_reduce_scatter,
     .collective = Collective::reduce_scatter,
     .sums = true,
     .row_blocks = true,
     .c_is_block = true},
    {.op = Op::all_gather_gemm,
     .collective = Collective::all_gather,
     .exchanges_first = true,
     .row_blocks = true,
     .a_is_block = true},
    {.op = Op::gemm_all_to_all, .collective = Collective::all_to_all, .row_blocks = true},
    {.op = Op::all_to_all_gemm,
     .collective = Collective::all_to_all,
     .exchanges_first = true,
     .row_blocks = true},
}};

static_assert([] {
  for (std::size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}());

[[nodiscard]] constexpr const OpTraits& traits_of(Op op) {
  return kOps[static_cast<std::size_t>(op)];
}

[[nodiscard]] constexpr Collective collective_of(Op op) {
  return traits_of(op).collective;
}

}  // namespace overlaptune
