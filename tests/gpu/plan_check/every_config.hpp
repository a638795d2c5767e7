#pragma once
// A problem for each op, and a config of every strategy and transport for it.

#include <array>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/problem.hpp"

namespace overlaptune::plan_check {

inline constexpr std::array<Op, 4> kOps{Op::gemm_all_reduce, Op::gemm_reduce_scatter,
                                        Op::all_gather_gemm, Op::gemm_all_to_all};

[[nodiscard]] Problem problem(Op op, int ranks);

/// The configs that there are for such a problem; `sequential` first.
[[nodiscard]] std::vector<Config> configs(const Problem& of);

/// A problem of so few tiles, 8 of 128x64 for each rank, that two CTAs of a Hopper GPU share each.
[[nodiscard]] Problem small_problem(Op op, int ranks);

/// The configs for such a problem whose GEMM reaches peers, behind `sequential`.
[[nodiscard]] std::vector<Config> small_configs(const Problem& of);

/// The name of a row: op, strategy and transport.
[[nodiscard]] std::string name_of(const Problem& of, const Config& config);

}  // namespace overlaptune::plan_check
