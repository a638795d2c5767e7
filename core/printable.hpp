#pragma once
// Text of others, made safe to show.

#include <string>
#include <string_view>

namespace overlaptune {

/// The text with each control character as `\x1b`: a terminal would obey it, and a line end could
/// fake a line of a log. These are the characters U+0000 to U+001F and U+007F to U+009F. Text that
/// was made printable stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace overlaptune
