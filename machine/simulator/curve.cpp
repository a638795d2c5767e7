#include <algorithm>
#include <cmath>

#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {
namespace {

/// Index of the segment that holds `at`; the last one for anything beyond.
std::size_t segment(const std::vector<double>& bytes, double at) {
  const auto above = std::ranges::upper_bound(bytes, at);
  const auto index = static_cast<std::size_t>(above - bytes.begin());
  return std::min(index == 0 ? 0 : index - 1, bytes.size() - 2);
}

}  // namespace

double Curve::linear(double at) const {
  if (bytes.size() == 1 || at <= bytes.front()) return values.front();
  const std::size_t i = segment(bytes, at);
  const double share = (at - bytes[i]) / (bytes[i + 1] - bytes[i]);
  return values[i] + share * (values[i + 1] - values[i]);
}

double Curve::logarithmic(double at) const {
  if (bytes.size() == 1 || at <= bytes.front()) return values.front();
  if (at >= bytes.back()) return values.back();
  const std::size_t i = segment(bytes, at);
  const double share = std::log(at / bytes[i]) / std::log(bytes[i + 1] / bytes[i]);
  return values[i] + share * (values[i + 1] - values[i]);
}

double Curve::geometric(double at) const {
  if (bytes.size() == 1 || at <= bytes.front()) return values.front();
  if (at >= bytes.back()) return linear(at);
  const std::size_t i = segment(bytes, at);
  const double share = std::log(at / bytes[i]) / std::log(bytes[i + 1] / bytes[i]);
  return values[i] * std::pow(values[i + 1] / values[i], share);
}

}  // namespace overlaptune::sim
