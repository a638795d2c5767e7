#pragma once
// Text of others, made safe to show.

#include <optional>
#include <string>
#include <string_view>

namespace overlaptune {

/// The first letter of a text that is not empty: its bytes in UTF-8, and its code. A byte that
/// begins no letter has no code.
struct Letter {
  std::string_view bytes;
  std::optional<char32_t> code;
};
[[nodiscard]] Letter first_letter(std::string_view text);

/// Whether a terminal may obey the letter instead of showing it: U+0000 to U+001F and U+007F to
/// U+009F.
[[nodiscard]] constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

/// Whether the letter changes the order in which others are shown, or ends a line, so that a text
/// looks like another one: the bidirectional controls of Unicode (UAX 9, 2) and U+2028, U+2029.
[[nodiscard]] constexpr bool misleads(char32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// The text with each control character as `\x1b`: a terminal would obey it, and a line end could
/// fake a line of a log. The same for each byte that is no UTF-8, which a terminal of another
/// encoding would obey, and for letters that mislead (`\x202e`). Text that was made printable stays
/// as it is.
[[nodiscard]] std::string printable(std::string_view text);

/// A whole output, made safe to show: as above, but line ends and tabs stay, and letters above
/// U+007E are written as `\u202e`, so that a JSON document means the same.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace overlaptune
