#pragma once
// The line of `to_string(Config)` read as it is stored: by the ten thousand, and in no other way of
// writing it, so that equal configs are equal texts.

#include <string>
#include <string_view>

#include "core/config.hpp"

namespace overlaptune {

/// Whether `to_string` writes this line of some config without negative numbers, empty groups or 0
/// chunks; `config` is then that one. (Whether its fields go together is not judged.) Takes memory
/// for wave groups only, and none where `config` has room for them.
[[nodiscard]] bool read_canonical(std::string_view line, Config& config);

/// What is wrong with a line that `read_canonical` refuses, in one line of text.
[[nodiscard]] std::string why_not_canonical(std::string_view line);

}  // namespace overlaptune
