#include "core/base/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/descriptor.hpp"

namespace overlaptune {
namespace {

/// A name of the encoding, where it is not the one that is read.
std::string_view foreign_encoding(std::string_view text) {
  using std::literals::operator""sv;
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv)) return "UTF-16";
  // Without a byte order mark: every second byte of ASCII is NUL.
  if (text.size() < 4 || text.size() % 2 != 0) return {};
  const bool little = text[1] == '\0' && text[3] == '\0' && text[0] != '\0' && text[2] != '\0';
  const bool big = text[0] == '\0' && text[2] == '\0' && text[1] != '\0' && text[3] != '\0';
  return little || big ? "UTF-16" : std::string_view{};
}

/// Takes a byte order mark away. Error: the text is not UTF-8, or no text at all.
Expected<std::string> as_utf8(std::string text, const std::string& name) {
  if (text.starts_with("\x1f\x8b")) {  // RFC 1952
    return bad_input(
        fmt::format("{}: compressed by gzip: expected text: give `-` in its place, "
                    "behind `gunzip -c FILE |`",
                    name));
  }
  if (const auto encoding = foreign_encoding(text); !encoding.empty()) {
    return bad_input(fmt::format("{}: {}: expected UTF-8: save it as UTF-8", name, encoding));
  }
  if (const std::size_t at = text.find('\0'); at != std::string::npos) {
    const auto before = text.begin() + static_cast<std::ptrdiff_t>(at);
    return bad_input(fmt::format("{}: line {}: a byte of 0 (\\x00): expected text in UTF-8", name,
                                 1 + std::count(text.begin(), before, '\n')));
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace

std::optional<std::string> read_all(int descriptor, std::size_t most_bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t before = text.size();
    const std::size_t piece = std::min(std::max(kPiece, before), most_bytes + 1 - before);
    text.resize(before + piece);
    const ssize_t count = ::read(descriptor, text.data() + before, piece);
    text.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return std::nullopt;
  }
  return text;
}

Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most_bytes) {
  const std::string name = file.string();
  const bool standard_input = name == "-";
  const auto fail = [&](std::string_view why) {
    return bad_input(fmt::format("{}: {}", name, why));
  };
  struct stat status {};
  if (!standard_input && ::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return fail("no such file: expected a readable text file");
    }
    return fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  // A device might never end, and to open one may have effects.
  const bool pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  if (!standard_input && !S_ISREG(status.st_mode) && !pipe) {
    return fail(
        "not a regular file: expected a readable text file, a pipe, or - for the standard "
        "input");
  }
  const Descriptor opened(standard_input ? ::dup(STDIN_FILENO)
                                         : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  auto text = opened.get() < 0 ? std::nullopt : read_all(opened.get(), most_bytes);
  if (!text) return fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text->size() > most_bytes) {
    return fail(fmt::format("larger than {} bytes: expected a smaller file", most_bytes));
  }
  auto utf8 = as_utf8(std::move(*text), name);
  if (utf8 && utf8->empty()) return fail("empty: expected some text");
  return utf8;
}

std::string called(const std::string& file) {
  if (file == "-" || file == "/dev/stdin") return "standard input";
  const bool of_descriptor = file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/");
  return of_descriptor ? "the pipe" : file;
}

}  // namespace overlaptune
