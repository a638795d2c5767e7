#pragma once
// Where and why a text is no JSON.

#include <cstddef>
#include <string>
#include <string_view>

namespace overlaptune {

/// "line 3, column 7: a comma stands before '}'", with the likely reason. `byte` is the last one
/// that a parser read, from 1; beyond the text, where that ends too soon.
[[nodiscard]] std::string why_no_json(std::string_view text, std::size_t byte);

}  // namespace overlaptune
