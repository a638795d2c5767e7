#pragma once
// Where the operand lies that ranks exchange.

#include "core/config/transport.hpp"
#include "core/problem.hpp"

namespace overlaptune::run {

/// Whether collectives by this transport need A or C in memory that all ranks share.
[[nodiscard]] bool exchanges_in_world(const Problem& problem, Transport transport);

}  // namespace overlaptune::run
