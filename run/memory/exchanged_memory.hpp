#pragma once
// Where the operand lies that ranks exchange.

#include "core/config/transport.hpp"
#include "core/problem.hpp"

namespace overlaptune::run {

/// Whether the collective works in C alone: the GEMM stores its product there, and the sums replace
/// it. Otherwise products lie in the workspace. By `peer_access` the peers load them from there,
/// and C may be any memory.
[[nodiscard]] bool adds_up_in_c(const Problem& problem, Transport transport);

/// Whether collectives by this transport need A or C in memory that all ranks share.
[[nodiscard]] bool exchanges_in_world(const Problem& problem, Transport transport);

}  // namespace overlaptune::run
