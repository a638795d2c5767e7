#pragma once
// Configs that nobody tuned, by which any strategy can be tried on any problem: one tile, few wave
// groups, and as many CTAs as a collective usually needs.

#include <string>
#include <string_view>

#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// Every strategy with each of its transports: "sequential/ring,…". A strategy that has no choice
/// of transport stands by itself.
[[nodiscard]] std::string all_ways();

/// A config for the problem. `way`: one of `all_ways`, or a strategy alone, which then moves by its
/// usual transport. Error: the way is not known, or the strategy cannot run the problem so.
[[nodiscard]] Expected<Config> untuned_config(const Problem& problem, std::string_view way);

}  // namespace overlaptune
