#include "core/base/readable.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr double kFourDigits = 999.5;  // from here on three digits need an exponent

std::string three_digits(double value) {
  return value < kFourDigits ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// The value in the last unit in which it is 1 or more; each unit is `step` of the one before.
template <std::size_t Count>
std::string scaled(double value, double step, const char* const (&units)[Count]) {
  std::size_t unit = 0;
  while (value >= step - 0.5 && unit + 1 < Count) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

}  // namespace

std::string readable(Microseconds time) {
  return scaled(time.count(), 1000, {"us", "ms", "s"});
}

std::string readable(Bytes bytes) {
  return scaled(static_cast<double>(bytes.count), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string readable_count(std::int64_t count) {
  constexpr std::int64_t kThousand = 1024;
  constexpr std::int64_t kMillion = kThousand * kThousand;
  if (count >= kMillion && count % kMillion == 0) return fmt::format("{}M", count / kMillion);
  if (count >= kThousand && count % kThousand == 0) return fmt::format("{}k", count / kThousand);
  return std::to_string(count);
}

}  // namespace overlaptune
