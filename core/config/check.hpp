#pragma once
// Which configs are legal. Parser, database, model, machines, tuner, query library and run library
// all call these functions.

#include "core/capabilities.hpp"
#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune {

// Each function includes the checks of the ones before it. Error (`bad_input`): the field and what
// is allowed.

/// Whether the fields of a config are in range and go together.
[[nodiscard]] Expected<void> check(const Config& config);

/// Whether the config also fits the problem: its strategy can run the op, and its chunks or wave
/// groups make up the whole product.
[[nodiscard]] Expected<void> check(const Problem& problem, const Config& config);

/// Whether a machine with these capabilities can also run it: ranks, SMs, tile, transports.
[[nodiscard]] Expected<void> check(const Problem& problem, const Config& config,
                                   const Capabilities& capabilities);

/// Upper bound (exclusive) of the elements of a row block of C (exchanged first: of A), or of a
/// part of one, that `Transport::peer_access` can move.
inline constexpr std::int64_t kMostPeerElements = std::int64_t{1} << 34;

}  // namespace overlaptune
