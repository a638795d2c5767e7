#include "core/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cwchar>
#include <locale>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// The text with `escape(code)` for each letter that is unsafe, and `\xff` for each byte that
/// begins none.
template <class IsUnsafe, class Escape>
std::string with_escapes(std::string_view text, IsUnsafe is_unsafe, Escape escape) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto [bytes, code] = first_letter(text);
    if (!code) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    } else if (is_unsafe(*code)) {
      shown += escape(static_cast<unsigned>(*code));
    } else {
      shown += bytes;
    }
    text.remove_prefix(bytes.size());
  }
  return shown;
}

}  // namespace

Letter first_letter(std::string_view text) {
  constexpr unsigned char kAscii = 0x80;
  const auto first = static_cast<unsigned char>(text.front());
  if (first < kAscii) return {text.substr(0, 1), first};
  using Decoder = std::codecvt<char32_t, char8_t, std::mbstate_t>;
  const auto& decoder = std::use_facet<Decoder>(std::locale::classic());
  std::array<char8_t, 4> bytes{};
  const std::size_t size = std::min(bytes.size(), text.size());
  std::copy_n(text.begin(), size, bytes.begin());
  std::mbstate_t state{};
  char32_t code = 0;
  char32_t* after_code = nullptr;
  const char8_t* next = nullptr;
  decoder.in(state, bytes.data(), bytes.data() + size, next, &code, &code + 1, after_code);
  const bool is_half = code >= 0xd800 && code <= 0xdfff;  // of a letter of UTF-16
  if (next == bytes.data() || is_half) return {text.substr(0, 1), std::nullopt};
  return {text.substr(0, static_cast<std::size_t>(next - bytes.data())), code};
}

std::string printable(std::string_view text) {
  return with_escapes(
      text, [](char32_t code) { return is_control(code) || misleads(code); },
      [](unsigned code) { return fmt::format("\\x{:02x}", code); });
}

std::string printable_lines(std::string_view text) {
  const auto is_unsafe = [](char32_t code) {
    return (is_control(code) && code != U'\n' && code != U'\t') || misleads(code);
  };
  return with_escapes(text, is_unsafe, [](unsigned code) {
    constexpr unsigned kDelete = 0x7f;
    return code < kDelete ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  });
}

}  // namespace overlaptune
