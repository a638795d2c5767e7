#include "planning/sequences/cost_fields.hpp"

#include <fmt/format.h>

#include "planning/sequences/costs.hpp"

namespace overlaptune {
namespace {

constexpr int kMostDegree = 65'536;

}  // namespace

double positive(const JsonReader& at) {
  const double value = at.number(0, kLargestNumber);
  if (value <= 0) at.fail("expected a number above 0, found " + at.shown());
  return value;
}

std::vector<int> degrees_of(const JsonReader& bandwidth) {
  std::vector<int> degrees;
  for (const std::string& name : bandwidth.field_names()) {
    unsigned degree = 2;
    while (degree < kMostDegree && std::to_string(degree) != name) degree *= 2;
    if (std::to_string(degree) != name) {
      bandwidth.fail(fmt::format(
          "'{}': expected a degree: a power of two from 2 to {}, as in \"16\"", name, kMostDegree));
    }
    degrees.push_back(static_cast<int>(degree));
  }
  return degrees;
}

}  // namespace overlaptune
