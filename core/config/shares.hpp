#pragma once
// Wave groups as shares of a product: one list of shares serves a weight with any number of rows.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/tiling.hpp"

namespace overlaptune {

/// A share, in units of 0.0001.
using Share = std::int32_t;
/// The share of the whole.
inline constexpr Share kWholeShare = 10'000;
/// Most shares of one list: each wave group becomes one.
inline constexpr std::size_t kMostShares = std::size_t{1} << 12;

/// The shares of consecutive parts. Their ends are rounded, so that they add up to `kWholeShare`; a
/// part too small for a share is added to the next one.
[[nodiscard]] std::vector<Share> shares_of(std::span<const std::int64_t> parts);

/// Tiles of wave groups that end at the cuts nearest to the ends of the shares. Shares that end at
/// the same cut become one group. `shares` add up to `kWholeShare`.
[[nodiscard]] std::vector<std::int64_t> nearest_groups(const WaveCuts& cuts, std::int64_t tiles,
                                                       std::span<const Share> shares);

/// "0.9,0.05,0.05".
[[nodiscard]] std::string shares_text(std::span<const Share> shares);

/// Reads such a text, as it is printed and no other. Error: what is wrong.
[[nodiscard]] Expected<std::vector<Share>> parse_shares(std::string_view text);

}  // namespace overlaptune
