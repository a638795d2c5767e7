#pragma once
// Profiles that are built into the program.

#include <algorithm>

#include "machine/simulator/profile.hpp"

namespace overlaptune::test {

/// The machine with rings alone, on which each effect of the simulation has its simplest form.
inline constexpr std::string_view kRings = "h200-rings-x8";

/// The text of a built-in profile.
inline std::string_view built_in(std::string_view name) {
  const auto& all = sim::embedded_profiles();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const sim::EmbeddedProfile& each) { return each.name == name; });
  return found == all.end() ? std::string_view() : found->text;
}

}  // namespace overlaptune::test
