#pragma once
// Numbers and letters of texts.

#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace overlaptune {

/// The number that the whole text is; none where it is something else, or too large.
template <class Number>
[[nodiscard]] std::optional<Number> parsed(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

[[nodiscard]] inline std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace overlaptune
