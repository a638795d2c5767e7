#include "cli/terminal.hpp"

#include <cctype>
#include <cstdlib>
#include <string>
#include <sys/ioctl.h>

namespace overlaptune::cli {

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool shows_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name;
    for (const char* c = value; *c != '\0'; ++c) {
      if (*c != '-') name += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return name.find("utf8") != name.npos;
  }
  return false;
}

}  // namespace overlaptune::cli
