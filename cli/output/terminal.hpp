#pragma once
// The size of the terminal of this process.

#include <cstddef>
#include <sys/ioctl.h>

namespace overlaptune::cli {

/// The width of the terminal that a file descriptor leads to; 80 if it is none.
[[nodiscard]] inline std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace overlaptune::cli
