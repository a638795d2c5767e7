#include "core/units.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace overlaptune {

Expected<std::int64_t> parse_size(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  int shift = 0;
  bool well_formed = failure == std::errc{} && count >= 0;
  if (well_formed && rest != end) {
    switch (std::tolower(static_cast<unsigned char>(*rest))) {
      case 'k':
        shift = 10;
        break;
      case 'm':
        shift = 20;
        break;
      case 'g':
        shift = 30;
        break;
      default:
        well_formed = false;
    }
    well_formed = well_formed && rest + 1 == end;
  }
  if (!well_formed || count > (std::int64_t{1} << (62 - shift))) {
    return bad_input(
        fmt::format("size '{}': expected a whole number of at least 0, with k, M or G if you like "
                    "(1024-based)",
                    text));
  }
  return count << shift;
}

Expected<std::chrono::duration<double>> parse_duration(std::string_view text) {
  double count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  double scale = 1;
  bool well_formed = failure == std::errc{} && std::isfinite(count) && count > 0;
  if (well_formed && rest != end) {
    switch (*rest) {
      case 's':
        break;
      case 'm':
        scale = 60;
        break;
      case 'h':
        scale = 3600;
        break;
      default:
        well_formed = false;
    }
    well_formed = well_formed && rest + 1 == end;
  }
  if (!well_formed) {
    return bad_input(
        fmt::format("duration '{}': expected a positive number of seconds, or with s, m or h as in "
                    "90s, 5m, 2h",
                    text));
  }
  return std::chrono::duration<double>(count * scale);
}

std::string to_string(Bytes bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::int64_t count = bytes.count;
  std::size_t unit = 0;
  while (count >= 1024 && count % 1024 == 0 && unit + 1 < std::size(units)) {
    count /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", count, units[unit]);
}

}  // namespace overlaptune
