#pragma once
// The size of the terminal of this process.

#include <cstddef>

namespace overlaptune::cli {

/// The width of the terminal that a file descriptor leads to; 80 if it is none.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

}  // namespace overlaptune::cli
