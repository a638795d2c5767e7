#pragma once
// Text made a JSON document.

#include <cstddef>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

namespace overlaptune {

/// Throws a `Failure` (bad_input) of one line that begins with `origin` and names the field, the
/// line and the column near which the text is no JSON, and the likely reason. More than `largest`
/// bytes are refused before they are parsed.
[[nodiscard]] nlohmann::json parse_json(
    std::string_view text, std::string_view origin,
    std::size_t largest = std::numeric_limits<std::size_t>::max());

/// Reads what Python's `json` writes, too: `NaN`, `Infinity` and `-Infinity` become texts of that
/// name, so that only who reads the field as a number refuses it.
[[nodiscard]] nlohmann::json parse_python_json(std::string_view text, std::string_view origin);

/// Reads what Python's `json` writes, but refuses a field that stands twice in an object, by its
/// path: of two, the last one would count, without a word.
[[nodiscard]] nlohmann::json parse_unique_json(std::string_view text, std::string_view origin);

}  // namespace overlaptune
