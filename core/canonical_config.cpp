#include "core/canonical_config.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace overlaptune {
namespace {

/// What is left of a line; what is read is taken off.
class Rest {
 public:
  explicit Rest(std::string_view line) : next_(line.data()), end_(line.data() + line.size()) {}

  [[nodiscard]] bool is_empty() const { return next_ == end_; }

  /// Of a size that is known when it is compiled: then a few instructions.
  template <std::size_t Size>
  bool take(const char (&text)[Size]) {
    constexpr std::size_t kLength = Size - 1;  // without its end
    const bool there = left() >= kLength && std::memcmp(next_, text, kLength) == 0;
    if (there) next_ += kLength;
    return there;
  }

  /// As it is printed: without a sign and without leading zeros.
  template <class T>
  bool take_number(T least, T& number) {
    constexpr std::ptrdiff_t kMostDigits = 19;  // which 64 bits hold
    std::uint64_t value = 0;
    const char* at = next_;
    for (; at != end_ && *at >= '0' && *at <= '9'; ++at) {
      value = 10 * value + static_cast<std::uint64_t>(*at - '0');
    }
    const std::ptrdiff_t digits = at - next_;
    if (digits == 0 || digits > kMostDigits || (*next_ == '0' && digits > 1)) return false;
    next_ = at;
    number = static_cast<T>(value);
    return value <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()) && number >= least;
  }

  /// All up to the next blank.
  template <class E>
  bool take_name(E& value) {
    const std::string_view rest(next_, left());
    const std::string_view name = rest.substr(0, rest.find(' '));
    const auto found = find_name<E>(name);
    if (found) value = *found;
    next_ += name.size();
    return found.has_value();
  }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - next_); }

  const char* next_;
  const char* end_;
};

bool take_tile(Rest& rest, Config& config) {
  Tile& tile = config.tile;
  return rest.take_number(1, tile.block_m) && rest.take("x") && rest.take_number(0, tile.block_n) &&
         rest.take("x") && rest.take_number(0, tile.block_k) && rest.take(" stages=") &&
         rest.take_number(0, tile.stages) && rest.take(" cluster=") &&
         rest.take_number(0, tile.cluster) && rest.take(" raster=") &&
         rest.take_number(0, config.raster);
}

bool take_groups(Rest& rest, std::vector<std::int64_t>& groups) {
  do {
    if (!rest.take_number(std::int64_t{1}, groups.emplace_back())) return false;
  } while (rest.take(","));
  return true;
}

}  // namespace

bool read_canonical(std::string_view line, Config& config) {
  config.tile = {};
  config.raster = 0;
  config.wave_groups.clear();
  config.chunks = 1;
  config.wait = Wait::driver;
  Rest rest(line);
  if (!rest.take_name(config.strategy)) return false;
  if (rest.take(" tile=") && !take_tile(rest, config)) return false;
  if (!rest.take(" ctas=") || !rest.take_number(0, config.comm_ctas)) return false;
  if (!rest.take(" transport=") || !rest.take_name(config.transport)) return false;
  // Defaults are not printed.
  if (rest.take(" chunks=") && !rest.take_number(2, config.chunks)) return false;
  if (rest.take(" wait=") && (!rest.take_name(config.wait) || config.wait == Wait::driver)) {
    return false;
  }
  if (rest.take(" groups=") && !take_groups(rest, config.wave_groups)) return false;
  return rest.is_empty();
}

std::string why_not_canonical(std::string_view line) {
  const auto config = parse_config(line);
  if (!config) return config.error().message;
  constexpr std::size_t kShown = 200;
  return "config: expected it as it is printed: '" + to_string(*config).substr(0, kShown) + "'";
}

}  // namespace overlaptune
