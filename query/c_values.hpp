#pragma once
// Questions and answers as the C interface has them.

#include <span>
#include <string_view>

#include "abi/values.hpp"
#include "query/answer.hpp"
#include "query/platform_choice.hpp"
#include "query/winner_index.hpp"

namespace overlaptune::c {

/// Which platform is asked for. Throws `Refusal`, as all that reads what a caller filled
/// (abi/values.hpp).
[[nodiscard]] PlatformWish wish_of(const ovt_platform* platform);
/// The size up to which an answer may be written. Throws `Refusal`.
[[nodiscard]] std::size_t checked(const ovt_answer* answer);

/// Writes an answer of which `size` bytes are the caller's; all beyond what we know is zeroed.
void write(const IndexedWinner& winner, std::span<const std::int64_t> wave_groups,
           std::string_view reason, std::size_t size, ovt_answer* answer);
void write(const Answer& made, std::size_t size, ovt_answer* answer);

}  // namespace overlaptune::c
