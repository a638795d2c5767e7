#include "core/printable.hpp"

#include <fmt/format.h>

namespace overlaptune {

std::string printable(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  constexpr unsigned char kLeadsC1 = 0xc2;  // in UTF-8, U+0080 to U+009F are C2 80 to C2 9F
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == kLeadsC1 && next >= 0x80 && next <= 0x9f) {
      shown += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (byte < kFirstPrintable || byte == kDelete) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace overlaptune
