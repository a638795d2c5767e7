#pragma once
// A word by which a rank finds out that an address of a peer's memory leads there.

#include <cstdint>

#include "core/base/error.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Writes this rank's mark. It has arrived when the function returns.
void put_mark(World& world, std::byte* word);

/// Makes the word zero again, when no peer looks for the mark any more.
void take_mark(World& world, std::byte* word);

/// Error (`bad_input`): there is no mark of the peer at the address, or the address cannot be read.
[[nodiscard]] Expected<void> check_mark(World& world, const std::byte* word, int peer);

}  // namespace overlaptune::run
