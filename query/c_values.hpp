#pragma once
// Conversions between questions and answers and the structs of the C interface.

#include "core/abi/values.hpp"
#include "query/answer.hpp"
#include "query/platform_choice.hpp"
#include "query/terms.hpp"

namespace overlaptune::c {

/// The platform that the caller asks for. Throws `Refusal`, as every function that reads a caller's
/// struct does (core/abi/values.hpp).
[[nodiscard]] PlatformWish wish_of(const ovt_platform* platform);
/// The terms of a question: all that the caller asks for beside the problem.
[[nodiscard]] Terms terms_of(const ovt_question* question);
/// The number of bytes of an answer that may be written. Throws `Refusal`.
[[nodiscard]] std::size_t checked(const ovt_answer* answer);

/// Writes an answer into `size` bytes of the caller's. Fields that this library does not know are
/// zeroed.
void write(const Answer& made, std::size_t size, ovt_answer* answer);

}  // namespace overlaptune::c
