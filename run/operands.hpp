#pragma once
// Mistakes in the operands that a caller gives to a plan.

#include <cstddef>
#include <string>

#include "run/plan.hpp"

namespace overlaptune::run {

/// Bytes of the operands of one rank.
struct OperandBytes {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
  std::size_t a_scales = 0;  ///< 0: A has none, and is given none
  std::size_t b_scales = 0;
};

/// The part of the world's memory that a run of a plan writes.
struct WrittenMemory {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  const void* a = nullptr;  ///< the place there for A; null: A does not belong there
  const void* c = nullptr;  ///< the place there for C, likewise
};

/// The mistake, the value that was expected and what to do; empty: none. It looks at addresses
/// only: `workspace` of the operands is not read.
[[nodiscard]] std::string mistake_in(const Operands& operands, const OperandBytes& bytes,
                                     const WrittenMemory& written);

}  // namespace overlaptune::run
