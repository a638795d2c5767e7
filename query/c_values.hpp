#pragma once
// Our values and those of the C interface, one turned into the other.

#include <span>
#include <string>
#include <string_view>

#include "include/overlaptune/overlaptune.h"
#include "query/answer.hpp"
#include "query/platform_choice.hpp"
#include "query/winner_index.hpp"

namespace overlaptune::c {

/// What a call ends with that is not OVT_OK.
struct Refusal {
  ovt_status status = OVT_ERROR_ARGUMENT;
  std::string message;
};

// All throw `Refusal`: null or unaligned, a size that cannot be, a value that is not known, a text
// without its end, a rule of the problem that is broken. The message names the field.
[[nodiscard]] Problem problem_of(const ovt_problem* problem);
[[nodiscard]] Launch launch_of(ovt_launch launch);
[[nodiscard]] PlatformWish wish_of(const ovt_platform* platform);
/// The size up to which an answer may be written.
[[nodiscard]] std::size_t checked(const ovt_answer* answer);

/// Writes an answer of which `size` bytes are the caller's; all beyond what we know is zeroed.
void write(const IndexedWinner& winner, std::span<const std::int64_t> wave_groups,
           std::string_view reason, std::size_t size, ovt_answer* answer);
void write(const Answer& made, std::size_t size, ovt_answer* answer);

}  // namespace overlaptune::c
