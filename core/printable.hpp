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

/// The text with each control character as `\x1b`: a terminal would obey it, and a line end could
/// fake a line of a log. The same for each byte that is no UTF-8, which a terminal of another
/// encoding would obey. Text that was made printable stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace overlaptune
