#pragma once
// Text made a JSON document.

#include <cstddef>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

namespace overlaptune {

/// Throws a `Failure` (bad_input) of one line that begins with `origin` and names the field near
/// which the text is no JSON. More than `largest` bytes are refused before they are parsed.
[[nodiscard]] nlohmann::json parse_json(
    std::string_view text, std::string_view origin,
    std::size_t largest = std::numeric_limits<std::size_t>::max());

}  // namespace overlaptune
