#pragma once
// Where the operand lies that ranks exchange.

#include "core/problem.hpp"
#include "core/transport.hpp"

namespace overlaptune::run {

/// Whether collectives by this transport need A or C in memory that all ranks share.
[[nodiscard]] bool exchanges_in_world(const Problem& problem, Transport transport);

}  // namespace overlaptune::run
