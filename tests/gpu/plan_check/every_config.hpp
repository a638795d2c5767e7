#pragma once
// A problem for each op, and a config of every strategy and transport for it.

#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune::plan_check {

[[nodiscard]] Problem problem(Op op, int ranks);

/// The configs that there are for such a problem; `sequential` first.
[[nodiscard]] std::vector<Config> configs(const Problem& of);

/// Those whose strategy has the op, and whose transport carries its collective.
[[nodiscard]] std::vector<Config> those_that_run(std::vector<Config> configs, Op op);

/// A problem of so few tiles, 8 of 128x64 for each rank, that two CTAs of a Hopper GPU share each.
[[nodiscard]] Problem small_problem(Op op, int ranks);

/// The configs for such a problem whose GEMM reaches peers, behind `sequential`.
[[nodiscard]] std::vector<Config> small_configs(const Problem& of);

/// The name of a row: op, strategy and transport.
[[nodiscard]] std::string name_of(const Problem& of, const Config& config);

}  // namespace overlaptune::plan_check
