#pragma once
// Random numbers that depend on a key and a counter alone. They do not depend on the order in which
// things are simulated, nor on how often.

#include <cstdint>
#include <string_view>

#include "core/base/hash.hpp"

namespace overlaptune::sim {

class Noise {
 public:
  explicit Noise(std::uint64_t key) : key_(mix(key)) {}

  /// An unrelated stream.
  [[nodiscard]] Noise stream(std::uint64_t index) const { return Noise(key_ ^ mix(index + 1)); }
  [[nodiscard]] Noise stream(std::string_view name) const { return Noise(key_ ^ fnv1a(name)); }

  /// Uniform in [0, 1).
  [[nodiscard]] double uniform(std::uint64_t counter) const {
    return static_cast<double>(mix(key_ + counter) >> 11) * 0x1p-53;
  }

  /// Nearly normal, mean 0, standard deviation 1, within +-3.5: the sum of four uniform numbers of
  /// 16 bits (Irwin-Hall). It is cheap, because every tile needs one.
  [[nodiscard]] double normal(std::uint64_t counter) const {
    const std::uint64_t bits = mix(key_ + counter);
    const auto sum = static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                         (bits >> 32 & 0xffff) + (bits >> 48));
    return (sum - 2 * 65535.0) * (1.7320508075688772 / 65536.0);
  }

 private:
  std::uint64_t key_;
};

}  // namespace overlaptune::sim
