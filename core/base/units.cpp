#include "core/base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace overlaptune {

namespace {

struct Unit {
  std::string_view name;  ///< in lower case
  std::int64_t scale = 1;
};

constexpr std::array<Unit, 4> kCounts{{{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}}};
constexpr std::array<Unit, 7> kByteUnits{{{"b", 1},
                                          {"kb", 1'000},
                                          {"mb", 1'000'000},
                                          {"gb", 1'000'000'000},
                                          {"kib", 1 << 10},
                                          {"mib", 1 << 20},
                                          {"gib", 1 << 30}}};
constexpr std::array<Unit, 4> kTimeUnits{{{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}}};
constexpr std::int64_t kMostCount = std::int64_t{1} << 62;

/// None: the text is no whole number with one of the units, or too large.
std::optional<std::int64_t> counted(std::string_view text, std::span<const Unit> units) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || count < 0) return std::nullopt;
  const std::string name = lower_case(std::string(rest, end));
  // 1Gb is a billion bits.
  if (name.size() > 1 && rest[0] != name[0] && name.back() == 'b' && end[-1] == 'b') {
    return std::nullopt;
  }
  for (const Unit& unit : units) {
    if (name == unit.name && count <= kMostCount / unit.scale) return count * unit.scale;
  }
  return std::nullopt;
}

}  // namespace

Expected<std::int64_t> parse_size(std::string_view text) {
  if (const auto count = counted(text, kCounts)) return *count;
  return bad_input(fmt::format(
      "size '{}': expected a whole number of at least 0 and at most 2^62, with k, M or G "
      "if you like (1024-based)",
      text));
}

Expected<std::int64_t> parse_bytes(std::string_view text) {
  if (const auto count = counted(text, kCounts)) return *count;
  if (const auto count = counted(text, kByteUnits)) return *count;
  return bad_input(
      fmt::format("size '{}': expected a whole number of bytes, at most 2^62, with k, M, G, KiB, "
                  "MiB, GiB (1024-based) or kB, MB, GB (1000-based) if you like; Gb are bits",
                  text));
}

Expected<std::chrono::duration<double>> parse_duration(std::string_view text) {
  double count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  const auto* unit = std::ranges::find(kTimeUnits, std::string_view(rest, end), &Unit::name);
  if (failure != std::errc{} || !std::isfinite(count) || count <= 0 || unit == kTimeUnits.end()) {
    return bad_input(
        fmt::format("duration '{}': expected a positive number of seconds, or with s, m or h as in "
                    "90s, 5m, 2h",
                    text));
  }
  return std::chrono::duration<double>(count * static_cast<double>(unit->scale));
}

}  // namespace overlaptune
