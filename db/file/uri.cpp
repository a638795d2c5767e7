#include "db/file/uri.hpp"

#include <fmt/format.h>

namespace overlaptune::db {

// `?`, `#` and `%` have a meaning in a URI and are escaped. The empty host keeps SQLite from taking
// a path that begins with two slashes as the name of a host.
std::string uri(const std::filesystem::path& file, std::string_view parameters) {
  std::string text = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '?' || c == '#' || c == '%') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return fmt::format("{}?{}", text, parameters);
}

}  // namespace overlaptune::db
