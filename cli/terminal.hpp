#pragma once
// What the terminal of this process can show.

#include <cstddef>

namespace overlaptune::cli {

/// The width of the terminal that a file descriptor leads to; 80 if it is none.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// Whether the locale (LC_ALL, else LC_CTYPE, else LANG) is one of UTF-8.
[[nodiscard]] bool shows_utf8();

}  // namespace overlaptune::cli
