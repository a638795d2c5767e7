#pragma once
// Types that carry their unit. In SQL, CSV, JSON and flags the unit is in the name: `_us`,
// `_bytes`, `_gb_per_s` (10^9 bytes per second).

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace overlaptune {

using Microseconds = std::chrono::duration<double, std::micro>;

constexpr Microseconds us(double count) {
  return Microseconds{count};
}

struct Bytes {
  std::int64_t count = 0;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
};

/// Parses `12`, `4k`, `64M`, `1G` (1024-based; upper or lower case) into a count.
/// Error: not a number, negative, or beyond 2^62.
[[nodiscard]] Expected<std::int64_t> parse_size(std::string_view text);

/// Parses a number of bytes: what `parse_size` takes, also `64MiB`, `1GiB` (1024-based), and
/// `64MB`, `1GB` (10^6, 10^9). Error: as there; `1Gb`, `1Mib`, which are bits.
[[nodiscard]] Expected<std::int64_t> parse_bytes(std::string_view text);

/// Parses `90`, `90s`, `5m`, `2h` into a positive duration.
[[nodiscard]] Expected<std::chrono::duration<double>> parse_duration(std::string_view text);

}  // namespace overlaptune
