#pragma once
// Quantities as people read them in a sentence: three digits, in the unit that fits.

#include <cstdint>
#include <string>

#include "core/base/units.hpp"

namespace overlaptune {

/// "950 us", "113 ms", "25.5 s". Zero and more.
[[nodiscard]] std::string readable(Microseconds time);

/// "20 GiB", "16.1 GiB", "512 B".
[[nodiscard]] std::string readable(Bytes bytes);

/// A count of tokens in the form that flags take it: 16384 -> "16k", 1000 -> "1000".
[[nodiscard]] std::string readable_count(std::int64_t count);

}  // namespace overlaptune
