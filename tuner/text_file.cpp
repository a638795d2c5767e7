#include "tuner/text_file.hpp"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace overlaptune {

Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most_bytes) {
  const std::string name = file.string();
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (!std::filesystem::exists(status)) {
    return bad_input(fmt::format("{}: no such file: expected a readable text file", name));
  }
  // Reading a device or a pipe might never end.
  if (!std::filesystem::is_regular_file(status)) {
    return bad_input(fmt::format("{}: not a regular file: expected a readable text file", name));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || !(stream || stream.eof())) {
    return bad_input(fmt::format("{}: cannot be read: check its permissions", name));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.empty()) {
    return bad_input(fmt::format("{}: empty: expected some text", name));
  }
  if (text.size() > most_bytes) {
    return bad_input(
        fmt::format("{}: larger than {} bytes: expected a smaller file", name, most_bytes));
  }
  return text;
}

}  // namespace overlaptune
