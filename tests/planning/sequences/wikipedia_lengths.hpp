#pragma once
// Lengths distributed as those of Wikipedia's documents.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace overlaptune {

/// The quantile function of lengths with the properties that were published of 1,000,000 documents
/// of Wikipedia: median 347, 1.6 % above 8192 tokens, p99 10,921, 0.13 % above 32,768, longest
/// 1,823,777, mean 1013.6. Between these points the logarithm of the length is linear in the
/// logarithm of the share of longer documents. The point at 90 % is chosen for the mean.
inline std::int64_t wikipedia_quantile(double share_of_longer) {
  struct Point {
    double share;
    double length;
  };
  constexpr std::array<Point, 8> kPoints{{{1, 20},
                                          {0.9, 60},
                                          {0.5, 347},
                                          {0.1, 1925},
                                          {0.016, 8192},
                                          {0.01, 10'921},
                                          {0.0013, 32'768},
                                          {1e-6, 1'823'777}}};
  for (std::size_t i = 1; i < kPoints.size(); ++i) {
    const auto& [share, length] = kPoints[i];
    const auto& [before_share, before_length] = kPoints[i - 1];
    if (share_of_longer < share && i + 1 < kPoints.size()) continue;
    const double part = std::log(share_of_longer / before_share) / std::log(share / before_share);
    const double value = before_length * std::pow(length / before_length, std::min(part, 1.0));
    return std::llround(value);
  }
  return 0;
}

inline std::vector<std::int64_t> wikipedia_lengths(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> lengths(count);
  for (std::int64_t& length : lengths) {
    // Uniform in (0, 1]: the standard distributions differ from library to library.
    const double share = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;
    length = wikipedia_quantile(share);
  }
  return lengths;
}

}  // namespace overlaptune
