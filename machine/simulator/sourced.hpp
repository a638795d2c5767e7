#pragma once
// Sourced values of a profile: {"value": ..., "source": "..."}. The source says where the value
// comes from and must not be empty.

#include <string>
#include <string_view>
#include <vector>

#include "json/reader.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

// The value of the field `key`. Each throws a `Failure` (bad_input) that names the place.
[[nodiscard]] double number(const JsonReader& at, std::string_view key, double least, double most);
[[nodiscard]] int integer(const JsonReader& at, std::string_view key, int least, int most);
[[nodiscard]] std::string text(const JsonReader& at, std::string_view key);
/// An array of [bytes, value] pairs, bytes ascending.
[[nodiscard]] Curve curve(const JsonReader& at, std::string_view key, double least, double most);
/// An array of [CTAs, array of [bytes, value] pairs], CTAs ascending.
[[nodiscard]] std::vector<CtaTimes> curves_by_ctas(const JsonReader& at, std::string_view key,
                                                   double least, double most);

}  // namespace overlaptune::sim
