#pragma once
// Sequence lengths from a text, made ready for planning.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace overlaptune {

/// Positive whole numbers, one a line; empty lines are skipped. `name` stands in front of every
/// message. Error: another line (the message has its number), or no length at all.
[[nodiscard]] Expected<std::vector<std::int64_t>> parse_lengths(std::string_view text,
                                                                std::string_view name);

/// Tokens of the longest sequence that is planned.
inline constexpr std::int64_t kLongestSequence = (std::int64_t{1} << 40) - 1;

enum class TooLong { drop, cut };

struct PreparedLengths {
  std::vector<std::int64_t> lengths{};  ///< in their order, multiples of `multiple`
  std::vector<std::size_t> places{};    ///< of each among the lengths that were given, from 0
  std::size_t too_long = 0;             ///< dropped or cut
};

/// Drops lengths above `most`, or cuts them to it, and pads all to a multiple of `multiple`.
[[nodiscard]] PreparedLengths prepare_lengths(std::vector<std::int64_t> lengths, std::int64_t most,
                                              TooLong too_long, std::int64_t multiple);

}  // namespace overlaptune
