#pragma once
// Problems of random sizes, which no probe plan has: the model is judged by them.

#include <cstdint>
#include <vector>

#include "core/problem.hpp"

namespace overlaptune {

/// `count` problems of all four ops in turn, m log-uniform in 64..32768 and n, k log-uniform in
/// 512..32768, rounded to what the op allows. The same seed gives the same problems.
[[nodiscard]] std::vector<Problem> held_out_problems(int count, int ranks, std::uint64_t seed);

}  // namespace overlaptune
