#include "cli/output/terminal.hpp"

#include <sys/ioctl.h>

namespace overlaptune::cli {

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace overlaptune::cli
