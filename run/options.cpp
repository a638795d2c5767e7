#include "run/options.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/base/environment.hpp"

namespace overlaptune::run {

Expected<std::chrono::milliseconds> parsed_time_limit(std::string_view text) {
  constexpr double kLeastSeconds = 0.001;
  constexpr double kMostSeconds = 2e6;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, seconds);
  const bool is_limit =
      error == std::errc() && read == end && seconds >= kLeastSeconds && seconds <= kMostSeconds;
  if (!is_limit) {
    return bad_input(
        fmt::format("{} = {}: expected seconds, from 0.001 to 2000000", kTimeLimitVariable, text));
  }
  return std::chrono::milliseconds(std::llround(1e3 * seconds));
}

const Expected<std::chrono::milliseconds>& usual_time_limit() {
  static const Expected<std::chrono::milliseconds> limit =
      []() -> Expected<std::chrono::milliseconds> {
    const auto text = environment().time_limit;
    if (!text) return WorldOptions{}.time_limit;
    return parsed_time_limit(*text);
  }();
  return limit;
}

}  // namespace overlaptune::run
